import { isIP } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { LockKeyError } from '../../lib/core/errors/index.js';
import { CreateMode } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import type { Client, Stage } from './backends/zookeeper.js';

const EMPTY = Buffer.alloc(0);
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
const NODE = new RegExp(`^_c_${UUID}-lock-\\d{10}$`);

/** What others see on the servers: Curator's names, data and order, and as few requests as can be. */
export function mutexZnodesSuite(stage: () => Stage): void {
  it('are named and filled as by Curator', async () => {
    const { mine, stranger, key, path } = stage();
    await using _ = await mine.mutex(key).acquire();
    const [node] = await stage().nodes();
    expect(node).toMatch(NODE);
    const { data, stat } = await stranger.getData(`${path}/${node}`);
    expect(isIP(data.toString()) > 0 || data.length === 0).toBe(true);
    expect(stat.ephemeralOwner).toBe(mine.connection.session!.id);
  });

  it('are listed as participants in the order of service, the holder first', async () => {
    const { mine, theirs, key, path } = stage();
    const mutex = mine.mutex(key);
    expect(await mutex.participants()).toEqual([]);

    const first = await mutex.acquire();
    const { lease: second } = await stage().queue(theirs);
    const { lease: third } = await stage().queue(mine);
    await stage().caughtUp(mine);
    const queue = await mutex.participants();
    expect(queue).toHaveLength(3);
    for (const [place, node] of queue.entries()) {
      expect(node.slice(path.length + 1)).toMatch(NODE);
      expect(Number(node.slice(-10))).toBe(place);
    }
    const leaving = [() => first, () => second, () => third];
    for (const [place, lease] of leaving.entries()) {
      await (await lease()).release();
      await stage().caughtUp(mine);
      expect(await mutex.participants()).toEqual(queue.slice(place + 1));
    }
  });

  it('are below the chroot of the client, which is made (Curator: testWithNamespace)', async () => {
    const { mine, key } = stage();
    const namespace = `chroot-of-${key}`;
    const inside = await stage().client({ namespace });
    await using outer = await mine.mutex(key).acquire();
    await using inner = await inside.mutex(key).acquire();
    expect([outer.isHeld, inner.isHeld]).toEqual([true, true]);
    const [node] = await inside.mutex(key).participants();
    expect(await stage().nodes(`/${namespace}/locks/${key}`)).toEqual([node!.split('/').at(-1)]);
    expect(await inside.mutex(key).tryAcquire()).toBeUndefined();
  });

  it('are at the very path that a key with a slash in front names', async () => {
    const { mine, theirs, key, path } = stage();
    const literal = `/elsewhere/${key}/deep`;
    await using _ = await mine.mutex(literal).acquire();
    expect(await stage().nodes(literal)).toHaveLength(1);
    await using byKey = await mine.mutex(key).acquire();
    expect(byKey.isHeld).toBe(true);
    expect(await theirs.mutex(path).tryAcquire()).toBeUndefined();
  });

  it('are the same by the key and by its path: that is a re-entry too', async () => {
    const { mine, key, path } = stage();
    await mine.mutex(key).using(async () => {
      await using byPath = await mine.mutex(path).tryAcquire();
      expect(byPath?.isHeld).toBe(true);
    });
  });

  it('are kept apart from those of other keys, however odd', async () => {
    const { mine, theirs, key } = stage();
    const tails = [
      '',
      '/',
      '%2F',
      '%',
      '.',
      ' ',
      '?',
      '#',
      '*',
      "'",
      '\u2028',
      'ä',
      'a\u0308',
      '🔒',
    ];
    const odd = [
      ...tails.map((tail) => key + tail),
      key.toUpperCase(),
      '.',
      '..',
      '%2E',
      'zookeeper',
    ];
    odd.push('x'.repeat(512), '€'.repeat(170));
    const leases = await Promise.all(odd.map((it) => mine.mutex(it).acquire({ wait: 10_000 })));
    expect(leases.map((lease) => lease.key)).toEqual(odd);
    const others = await Promise.all(odd.map((it) => theirs.mutex(it).tryAcquire()));
    expect(others.every((lease) => lease === undefined)).toBe(true);
    await Promise.all(leases.map((lease) => lease.release()));
  });

  it.each([
    ['empty', ''],
    ['too long', 'x'.repeat(513)],
    ['not Unicode', '\ud800'],
    ['with a line break', 'a\nb'],
    ['a path with a slash at its end', '/a/'],
    ['a path with an empty part', '/a//b'],
    ['a path that leads up', '/a/../b'],
  ])('are never of a key that is %s', (_, key) => {
    expect(() => stage().mine.mutex(key)).toThrow(LockKeyError);
  });

  describe('of other clients count as in Curator', () => {
    it.each(['0', '!x', 'lock-', 'deadbeefdeadbeefdeadbeefdeadbeef-lock-0000000000'])(
      '%j sorts ahead, and is waited for',
      async (name) => {
        const { mine, stranger, key, path } = stage();
        await mine.mutex(key).using(async () => {
          await stranger.create(`${path}/${name}`, EMPTY, CreateMode.EPHEMERAL);
        });
        const { lease } = await stage().queue(mine);
        expect(await mine.mutex(key).participants()).toEqual([
          `${path}/${name}`,
          expect.stringMatching(/-lock-\d{10}$/),
        ]);
        await stranger.delete(`${path}/${name}`);
        await (await lease).release();
      },
    );

    it.each(['foo', 'xlock-5', '__lock__0000000000', '_c_x-__WRIT__0000000000'])(
      '%j sorts behind, and is taken no notice of',
      async (name) => {
        const { mine, stranger, key, path } = stage();
        await mine.mutex(key).using(async () => {
          await stranger.create(`${path}/${name}`, EMPTY, CreateMode.EPHEMERAL);
        });
        await using lease = await mine.mutex(key).tryAcquire();
        expect(lease?.isHeld).toBe(true);
        await stranger.delete(`${path}/${name}`);
      },
    );
  });

  describe('cost as few requests as can be', () => {
    it('create, list and delete when no other node is ahead; soon only create and delete', async () => {
      const { mine, key } = stage();
      const cycle = () => requestsOf(mine, () => mine.mutex(key).using(async () => {}));
      await cycle(); // makes the directory
      expect(await cycle()).toEqual(['create', 'exists', 'getChildren', 'delete']);
      expect(await cycle()).toEqual(['create', 'delete']);
      expect(await cycle()).toEqual(['create', 'delete']);
    });

    it('another list after another client was there', async () => {
      const { mine, theirs, key } = stage();
      for (let i = 0; i < 3; i++) await mine.mutex(key).using(async () => {});
      await using _ = await theirs.mutex(key).acquire();
      expect(await mine.mutex(key).tryAcquire()).toBeUndefined();
    });

    it('another list after the directory was made anew, though the numbers would fit', async () => {
      const { mine, stranger, key, path } = stage();
      for (let i = 0; i < 3; i++) await mine.mutex(key).using(async () => {}); // numbers 0, 1, 2
      await stranger.delete(path);
      await stranger.create(path, EMPTY, CreateMode.CONTAINER);
      const make = () => stranger.create(`${path}/lock-`, EMPTY, CreateMode.EPHEMERAL_SEQUENTIAL);
      const [, , holder] = [await make(), await make(), await make()];
      expect(holder.path).toBe(`${path}/lock-0000000002`);
      expect(await mine.mutex(key).tryAcquire()).toBeUndefined();
      for (const node of await stage().nodes()) await stranger.delete(`${path}/${node}`);
    });

    it('two watches while it waits, and nothing when its turn comes', async () => {
      const { mine, theirs, key } = stage();
      const holder = await mine.mutex(key).acquire();
      let waiting!: { lease: Promise<AsyncDisposable> };
      const queueing = await requestsOf(theirs, async () => {
        waiting = await stage().queue(theirs);
        await theirs.connection.exists('/'); // when that is answered, the watches are set
      });
      expect(queueing).toEqual(['create', 'getChildren', 'getData', 'getData']);
      const served = await requestsOf(theirs, async () => {
        await holder.release();
        await waiting.lease;
      });
      expect(served).toEqual([]);
      await (await waiting.lease)[Symbol.asyncDispose]();
    });

    /** Kinds of the requests sent meanwhile. */
    async function requestsOf(client: Client, work: () => Promise<unknown>): Promise<string[]> {
      const before = client.requests.length;
      await work();
      return client.requests.slice(before).map(({ op }) => op);
    }
  });
}

/** What a mutex on ZooKeeper asks for, and what not, where its nodes would not show it. */
export function mutexRequestsSuite(stage: () => Stage): void {
  it('remove the nodes of 20 waiters before the client closes, though its session would take them along', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await theirs.lock(key).acquire();
    const waiters = await Promise.all(Array.from({ length: 20 }, () => stage().queue(mine)));
    await mine.locks.close();
    expect(mine.requests.filter(({ op }) => op === 'delete')).toHaveLength(nodesMadeBy(mine));
    await Promise.allSettled(waiters.map(({ lease }) => lease));
  });

  it('watch nothing for a tryAcquire', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await theirs.lock(key).acquire();
    expect(await mine.lock(key).tryAcquire()).toBeUndefined();
    expect(mine.requests.filter((request) => 'watch' in request && request.watch)).toEqual([]);
  });

  /** How many lock nodes it has asked for. */
  const nodesMadeBy = ({ requests }: Client) =>
    requests.filter((it) => it.op === 'create' && it.mode === CreateMode.EPHEMERAL_SEQUENTIAL)
      .length;
}
