import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { LockKeyError, LockOptionsError } from '../../lib/core/errors/index.js';
import { CreateMode } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import { ZooKeeperLease } from '../../lib/zookeeper/locks/zookeeper-lease.js';
import { type SemaphoreStage, ZooKeeperSemaphoreStage } from './backends/semaphores.js';
import type { LockStage } from './backends/stage.js';
import type { Client, Stage } from './backends/zookeeper.js';

const EMPTY = Buffer.alloc(0);
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';

/** What others see on the servers: Curator's names, data and count. */
export function semaphoreZnodesSuite(stage: () => Stage): void {
  const semaphores = new ZooKeeperSemaphoreStage(stage);

  it('are a lease for each permit, and a place at the gate for each waiter', async () => {
    const { mine, theirs, stranger, path } = stage();
    const held = await semaphores.of(mine, 2).acquire({ permits: 2 });
    const { lease } = await semaphores.queue(theirs, 2);
    await semaphores.nodesBecome({ leases: 3, gate: 1 });
    expect((await stage().nodes()).sort()).toEqual(['leases', 'locks']);
    const [leases, gate] = [await semaphores.leases(), await semaphores.gate()];
    for (const name of leases) expect(name).toMatch(new RegExp(`^_c_${UUID}-lease-\\d{10}$`));
    expect(gate[0]).toMatch(new RegExp(`^_c_${UUID}-lock-\\d{10}$`));
    const owners = [];
    for (const node of [...leases.map((name) => `leases/${name}`), `locks/${gate[0]}`]) {
      const { data, stat } = await stranger.getData(`${path}/${node}`);
      expect(isIP(data.toString()) > 0 || data.length === 0).toBe(true);
      owners.push(stat.ephemeralOwner);
    }
    const [ours, other] = [mine, theirs].map(({ connection }) => connection.session!.id);
    expect(owners).toEqual([ours, ours, other, other]);
    await held.release();
    await (await lease).release();
  });

  it('are known to the lease', async () => {
    const { mine, path } = stage();
    await using lease = await semaphores.of(mine, 3).acquire({ permits: 3 });
    expect(lease).toBeInstanceOf(ZooKeeperLease);
    const nodes = await semaphores.leases();
    expect(lease.paths).toEqual(nodes.map((name) => `${path}/leases/${name}`));
  });

  it.each([
    ['text', 'worker 7'],
    ['bytes', Buffer.from([0, 255, 1])],
  ])('carry the %s that the semaphore was made with, a copy of it', async (_, data) => {
    const { mine, stranger, key } = stage();
    const given = typeof data === 'string' ? data : Buffer.from(data);
    const semaphore = mine.locks.semaphore(key, { permits: 1, data: given });
    if (typeof given !== 'string') given.fill(7);
    await using lease = await semaphore.acquire();
    const { paths } = lease;
    expect((await stranger.getData(paths[0]!)).data).toEqual(Buffer.from(data));
    expect(await lease.data()).toEqual(Buffer.from(data));
  });

  it('are listed as participants, and the next waiter with them (Curator: TestInterProcessSemaphore testGetParticipantNodes)', async () => {
    const { mine, theirs, path } = stage();
    const semaphore = semaphores.of(mine, 10);
    expect(await semaphore.participants()).toEqual([]);
    const leases = [];
    for (let n = 0; n < 10; n++) leases.push(await semaphore.acquire());
    expect(await semaphore.participants()).toHaveLength(10);
    const { lease: next } = await semaphores.queue(theirs, 10);
    await semaphores.nodesBecome({ leases: 11, gate: 1 });
    const nodes = await semaphores.leases();
    await stage().caughtUp(mine);
    expect(await semaphore.participants()).toEqual(nodes.map((name) => `${path}/leases/${name}`));
    await Promise.all(leases.map((lease) => lease.release()));
    await (await next).release();
    await stage().caughtUp(mine);
    expect(await semaphore.participants()).toEqual([]);
  });

  describe('of others', () => {
    const asCurator = async (directory: 'leases' | 'locks', name: string) => {
      const { stranger, path } = stage();
      const prefix = `${path}/${directory}/_c_${randomUUID()}-${name}-`;
      return (await stranger.create(prefix, EMPTY, CreateMode.EPHEMERAL_SEQUENTIAL)).path;
    };

    it("count: a lease of Curator's is respected, and waited for", async () => {
      const { mine, stranger } = stage();
      await semaphores.of(mine, 2).using(async () => {}); // makes the directories
      const foreign = await asCurator('leases', 'lease');
      const one = await semaphores.of(mine, 2).acquire();
      expect(await semaphores.of(mine, 2).tryAcquire()).toBeUndefined();
      const { lease } = await semaphores.queue(mine, 2);
      await stranger.delete(foreign);
      await Promise.all([one, await lease].map((held) => held.release()));
    });

    it.each(['foo', '0', 'zzz', 'lease-', 'deadbeef-lease-0000000000'])(
      'count whatever their name: %j takes a permit, as in Curator',
      async (name) => {
        const { mine, stranger, path } = stage();
        await semaphores.of(mine, 2).using(async () => {});
        const stray = `${path}/leases/${name}`;
        await stranger.create(stray, EMPTY, CreateMode.EPHEMERAL);
        await stage().caughtUp(mine);
        expect(await semaphores.of(mine, 2).availablePermits()).toBe(1);
        const one = await semaphores.of(mine, 2).acquire();
        expect(await semaphores.of(mine, 2).tryAcquire()).toBeUndefined();
        const { lease } = await semaphores.queue(mine, 2);
        await semaphores.nodesBecome({ leases: 3, gate: 1 });
        await stranger.delete(stray);
        await Promise.all([one, await lease].map((held) => held.release()));
      },
    );

    it('at the gate are waited for, though there are permits', async () => {
      const { mine, stranger } = stage();
      await using first = await semaphores.of(mine, 3).acquire();
      const foreign = await asCurator('locks', 'lock');
      const { lease } = await semaphores.queue(mine, 3);
      await semaphores.nodesBecome({ leases: 1, gate: 2 });
      await stranger.delete(foreign);
      await using second = await lease;
      expect([first.isHeld, second.isHeld]).toEqual([true, true]);
    });

    it('may be in another chroot, where there are other permits', async () => {
      const { mine, key } = stage();
      const inside = await stage().client({ namespace: `chroot-of-${key}` });
      await using outer = await semaphores.of(mine, 1).acquire();
      await using inner = await semaphores.of(inside, 1).acquire();
      expect([outer.isHeld, inner.isHeld]).toEqual([true, true]);
      expect(await semaphores.of(inside, 1).participants()).toHaveLength(1);
    });
  });
}

/** As few requests as can be, and no more of them the longer the queue is. */
export function semaphoreCostSuite(stage: () => Stage): void {
  const semaphores = new ZooKeeperSemaphoreStage(stage);

  it('is a gate, a lease and one look, and both taken away, when permits are free', async () => {
    const { mine } = stage();
    const cycle = () => asked(mine, () => semaphores.of(mine, 2).using(async () => {}));
    await cycle(); // makes the directories
    await cycle(); // learns that it is alone at the gate
    const [gate, lease] = ['locks', 'leases'];
    const expected = ['create', 'create', 'getChildren', 'delete', 'delete'];
    expect(await cycle()).toEqual(
      [gate, lease, lease, gate, lease].map((where, n) => `${expected[n]} ${where}`),
    );
  });

  it('is a lease for each of several permits, and still one look', async () => {
    const { mine } = stage();
    const cycle = () =>
      asked(mine, () => semaphores.of(mine, 3).using(async () => {}, { permits: 3 }));
    for (let round = 0; round < 2; round++) await cycle();
    expect((await cycle()).filter((it) => it === 'getChildren leases')).toHaveLength(1);
  });

  it('is the number of leases instead of a list where there are many permits', async () => {
    const { mine } = stage();
    const cycle = () =>
      asked(mine, () => semaphores.of(mine, 20).using(async () => {}, { permits: 3 }));
    for (let round = 0; round < 2; round++) await cycle();
    const looks = (await cycle()).filter((it) => /^(exists|getChildren) leases$/.test(it));
    expect(looks).toEqual(['exists leases']);
  });

  it.each([
    ['the last', 19],
    ['more than there are', 20],
  ])('is a list of many leases only for an acquire of %s', async (_, taken) => {
    const { mine, theirs } = stage();
    await using _held = await semaphores.of(theirs, 20).acquire({ permits: taken });
    const attempt = async () => (await semaphores.of(mine, 20).tryAcquire())?.release();
    expect(await asked(mine, attempt)).toEqual([
      'create leases',
      'exists leases',
      'getChildren leases',
      'delete leases',
    ]);
  });

  it('is no gate for tryAcquire', async () => {
    const { mine } = stage();
    const semaphore = semaphores.of(mine, 1);
    await semaphore.using(async () => {}); // makes the directories
    const attempt = async () => (await semaphore.tryAcquire())!.release();
    expect(await asked(mine, attempt)).toEqual([
      'create leases',
      'getChildren leases',
      'delete leases',
    ]);
  });

  it('is no watch for a tryAcquire that finds none free', async () => {
    const { mine, theirs } = stage();
    await using _ = await semaphores.of(theirs, 2).acquire({ permits: 2 });
    expect(await semaphores.of(mine, 2).tryAcquire()).toBeUndefined();
    expect(mine.requests.filter((request) => 'watch' in request && request.watch)).toEqual([]);
  });

  it('is a look at the leases for the first waiter, and none for the others', async () => {
    const { mine, theirs } = stage();
    const held = [await semaphores.of(mine, 2).acquire(), await semaphores.of(mine, 2).acquire()];
    const { lease: front } = await semaphores.queue(mine, 2);
    await semaphores.nodesBecome({ leases: 3, gate: 1 });
    const waiting: Promise<AsyncDisposable>[] = [];
    const queueing = await asked(theirs, async () => {
      for (let n = 0; n < 10; n++) {
        const { lease } = await semaphores.queue(theirs, 2);
        waiting.push(lease);
      }
    });
    expect(queueing.filter((it) => it.endsWith('leases'))).toEqual([]);
    const served = await asked(theirs, async () => {
      await held[0]!.release();
      await front;
      await stage().caughtUp(theirs);
    });
    expect(served.filter((it) => it.endsWith('leases')).length).toBeLessThanOrEqual(3); // create, look, listen
    await held[1]!.release();
    await (await front).release();
    for (const lease of waiting) await (await lease)[Symbol.asyncDispose]();
  });

  /** The requests sent meanwhile, each with its directory. */
  async function asked(client: Client, work: () => Promise<unknown>): Promise<string[]> {
    const before = client.requests.length;
    await work();
    return client.requests.slice(before).map(({ op, path }) => {
      const [directory] = path.slice(stage().path.length + 1).split('/');
      return `${op} ${directory}`;
    });
  }
}

/** What is refused of a semaphore on ZooKeeper, for the sake of its znodes. */
export function semaphoreNodesOptionsSuite(stage: () => Stage): void {
  const semaphores = new ZooKeeperSemaphoreStage(stage);

  it.each(['locks', 'leases'])('no other lock is had on %j below the path of one', (directory) => {
    const { mine, path } = stage();
    semaphores.of(mine, 1);
    expect(() => mine.locks.mutex(`${path}/${directory}`)).toThrow(LockKeyError);
    expect(() => mine.locks.mutex(`${path}/others`)).not.toThrow();
  });

  describe('data', () => {
    const MOST = 1_000_000;

    it('of a megabyte is written', async () => {
      const { mine, key } = stage();
      const semaphore = mine.locks.semaphore(key, { permits: 1, data: Buffer.alloc(MOST, 7) });
      await using lease = await semaphore.acquire();
      expect(lease.isHeld).toBe(true);
      const [node] = await semaphore.participants();
      expect((await stage().stranger.getData(node!)).data).toHaveLength(MOST);
    });

    it.each([
      ['bytes', Buffer.alloc(MOST + 1)],
      ['text, in UTF-8', 'ä'.repeat(MOST / 2 + 1)],
    ])('over a megabyte of %s is refused', (_, data) => {
      const { mine, key } = stage();
      expect(() => mine.locks.semaphore(key, { permits: 1, data })).toThrow(LockOptionsError);
      expect(() => mine.locks.semaphoreMutex(key, { data })).toThrow(LockOptionsError);
    });

    it.each([7, null, {}])('%p is refused', (data) => {
      const { mine, key } = stage();
      const make = () => mine.locks.semaphore(key, { permits: 1, data: data as unknown as string });
      expect(make).toThrow(LockOptionsError);
    });
  });
}

/** What is refused, and when. */
export function semaphoreOptionsSuite(stage: () => LockStage, semaphores: SemaphoreStage): void {
  const OUT_OF_RANGE = [0, -1, 1.5, NaN, Infinity, 2 ** 31, '2', null] as number[];

  it.each(OUT_OF_RANGE)('there is no semaphore of %p permits', (permits) => {
    const { mine, key } = stage();
    const make = () => mine.locks.semaphore(key, { permits });
    expect(make).toThrow(LockOptionsError);
    expect(make).toThrow(expect.objectContaining({ option: 'permits', key, client: 'contract' }));
  });

  it.each([...OUT_OF_RANGE, 4])(
    'an acquire of %p permits of 3 is refused before anything is sent',
    async (permits) => {
      const { mine, key } = stage();
      const semaphore = semaphores.of(mine, 3);
      for (const refused of [
        semaphore.acquire({ permits }),
        semaphore.tryAcquire({ permits }),
        semaphore.using(async () => {}, { permits }),
      ]) {
        await expect(refused).rejects.toBeInstanceOf(LockOptionsError);
        await expect(refused).rejects.toMatchObject({ option: 'permits', key, client: 'contract' });
      }
      expect(mine.requests).toEqual([]);
    },
  );

  it('all objects of one semaphore have the same permits', async () => {
    const { mine, theirs, key } = stage();
    const { alias } = semaphores;
    await using _ = await semaphores.of(mine, 2).acquire();
    await using again = await semaphores.of(mine, 2).tryAcquire();
    expect(again?.isHeld).toBe(true);
    expect(() => semaphores.of(mine, 3)).toThrow(LockOptionsError);
    expect(() => mine.locks.semaphore(alias, { permits: 1 })).toThrow(LockOptionsError);
    expect(() => mine.locks.semaphore(`${key}!`, { permits: 1 })).not.toThrow();
    expect(() => semaphores.of(theirs, 3)).not.toThrow(); // another process may be a version ahead
  });

  it.each([
    ['mutex', () => stage().mine.locks.mutex(stage().key)],
    ['semaphore mutex', () => stage().mine.locks.semaphoreMutex(stage().key)],
    ['read/write lock', () => stage().mine.locks.readWriteLock(stage().key)],
    ['semaphore', () => semaphores.of(stage().mine, 1)],
  ])('a %s and locks of other kinds are not had by one name', (kind, make) => {
    const { mine } = stage();
    const { alias } = semaphores;
    make();
    const others = {
      mutex: () => mine.locks.mutex(alias),
      'semaphore mutex': () => mine.locks.semaphoreMutex(alias),
      'read/write lock': () => mine.locks.readWriteLock(alias),
      semaphore: () => mine.locks.semaphore(alias, { permits: 1 }),
    };
    for (const [other, makeOther] of Object.entries(others)) {
      if (other === kind) expect(makeOther).not.toThrow();
      else expect(makeOther).toThrow(LockKeyError);
    }
    expect(make).not.toThrow();
  });
}
