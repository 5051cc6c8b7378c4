import { isIP } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { LockKeyError, LockOptionsError, LockUpgradeError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { CreateMode } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import { eventually, isSettled } from '../support/time.js';
import { downgrade } from './backends/leases.js';
import type { Client, Stage } from './backends/zookeeper.js';

const EMPTY = Buffer.alloc(0);
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
const HALVES = ['read', 'write'] as const;

/** What others see of a read/write lock on the servers: Curator's names, data and order. */
export function readWriteZnodesSuite(stage: () => Stage): void {
  it.each([
    ['read', '__READ__'],
    ['write', '__WRIT__'],
  ] as const)('of the %s half are named and filled as by Curator', async (half, name) => {
    const { mine, stranger, key, path } = stage();
    await using _ = await mine.half(half, key).acquire();
    const [node] = await stage().nodes();
    expect(node).toMatch(new RegExp(`^_c_${UUID}-${name}0000000000$`));
    const { data, stat } = await stranger.getData(`${path}/${node}`);
    expect(isIP(data.toString()) > 0 || data.length === 0).toBe(true);
    expect(stat.ephemeralOwner).toBe(mine.connection.session!.id);
  });

  it('of both halves take their numbers from one counter', async () => {
    const { mine, key } = stage();
    for (const half of ['read', 'write', 'write', 'read'] as const) {
      await mine.half(half, key).using(async () => {});
    }
    await using _ = await mine.readLock(key).acquire();
    expect(await stage().nodes()).toEqual([expect.stringMatching(/__READ__0000000004$/)]);
  });

  it('are listed as participants, each half its own, in the order of service (Curator: TestInterProcessReadWriteLock testGetParticipantNodes)', async () => {
    const { mine, theirs, key, path } = stage();
    const lock = theirs.locks.readWriteLock(key);
    expect(await lock.readLock().participants()).toEqual([]);
    expect(await lock.writeLock().participants()).toEqual([]);

    const leases: Promise<Lease>[] = [];
    for (let place = 0; place < 28; place++) {
      const half = place < 20 ? 'read' : 'write';
      const client = place % 2 ? mine : theirs;
      leases.push((await stage().queueFor(client.half(half, key), client)).lease);
    }
    await stage().caughtUp(theirs);
    const readers = await lock.readLock().participants();
    const writers = await lock.writeLock().participants();
    expect(readers.map((node) => Number(node.slice(-10)))).toEqual([...Array(20).keys()]);
    expect(writers.map((node) => Number(node.slice(-10)) - 20)).toEqual([...Array(8).keys()]);
    for (const node of readers) expect(node).toMatch(new RegExp(`^${path}/_c_${UUID}-__READ__`));
    for (const node of writers) expect(node).toMatch(new RegExp(`^${path}/_c_${UUID}-__WRIT__`));

    for (const lease of leases) await (await lease).release();
    await stage().caughtUp(theirs);
    expect(await lock.writeLock().participants()).toEqual([]);
  });

  it.each(HALVES)(
    'of the %s half are known to the lease, and go with its session (Curator: testLockPath)',
    async (half) => {
      const { mine, stranger, key, path } = stage();
      const lease = await lockOf(mine, half).acquire();
      const [node] = await stage().nodes();
      expect(lease.paths).toEqual([`${path}/${node}`]);
      await stage().expire(mine);
      await eventually('it is gone', async () => !(await stranger.exists(lease.paths[0]!)));
      expect(key).toBe(lease.key);
      await lease.release();
    },
  );

  describe('carry data of the user', () => {
    it.each(HALVES)(
      'in the %s half, as it was when given (Curator: testSetNodeData)',
      async (half) => {
        const { mine, stranger, path } = stage();
        const given = new Uint8Array([1, 2, 0, 255]);
        const lock = lockOf(mine, half, given);
        given.fill(9);
        await using lease = await lock.acquire();
        await stranger.sync(path);
        const { data } = await stranger.getData(lease.paths[0]!);
        expect([...data]).toEqual([1, 2, 0, 255]);
        expect(await lease.data()).toEqual(data);
      },
    );

    it('as text in UTF-8; also none at all; also in the read lock of a downgrade', async () => {
      const { mine, key } = stage();
      const lock = mine.locks.readWriteLock(key, { data: 'Büro 7' });
      await using writer = await lock.writeLock().acquire();
      await using reader = await writer.run(() => lock.readLock().acquire());
      expect((await writer.data()).toString()).toBe('Büro 7');
      expect((await reader.data()).toString()).toBe('Büro 7');
      const plain = mine.locks.readWriteLock('another', { data: '' }).readLock();
      await using empty = await plain.acquire();
      expect(await empty.data()).toHaveLength(0);
    });

    it('of up to 1,000,000 bytes; more is refused when the lock is made', async () => {
      const { mine, key } = stage();
      const most = Buffer.alloc(1_000_000, 'x');
      await using lease = await lockOf(mine, 'write', most).acquire();
      expect((await lease.data()).equals(most)).toBe(true);
      for (const data of [Buffer.alloc(1_000_001), 'ä'.repeat(500_001)]) {
        expect(() => mine.locks.readWriteLock(key, { data })).toThrow(LockOptionsError);
      }
    });
  });

  describe('of other clients count as in Curator', () => {
    const BOTH_WAIT = ['__WRIT__', '0__WRIT__0000000000', '_c_x-__WRIT__-2147483648'];
    it.each(BOTH_WAIT)('%j is a writer ahead: readers and writers wait', async (name) => {
      await withStranger(name, async () => {
        for (const half of HALVES) await expectToWait(half, name);
      });
    });

    it.each(['0', '!x', '__READ__', 'peer-__READ__0000000000'])(
      '%j sorts ahead and is no writer: only writers wait',
      async (name) => {
        const { mine, key } = stage();
        await withStranger(name, async () => {
          await using reader = await mine.readLock(key).tryAcquire();
          expect(reader?.isHeld).toBe(true);
          await reader!.release();
          await expectToWait('write', name);
        });
      },
    );

    it.each(['foo', 'lock-0000000000', '_c_x-lock-0000000000', 'x__WRIT__x', '__lock__0000000000'])(
      '%j sorts behind, and is taken no notice of',
      async (name) => {
        const { mine, key } = stage();
        await withStranger(name, async () => {
          for (const half of HALVES) {
            await using lease = await mine.half(half, key).tryAcquire();
            expect(lease?.isHeld).toBe(true);
          }
        });
      },
    );

    it('and are participants where they have the name of the half', async () => {
      const { mine, key, path } = stage();
      const lock = mine.locks.readWriteLock(key);
      await withStranger('foo', () =>
        withStranger('xx__READ__0000000007', async () => {
          await stage().caughtUp(mine);
          expect(await lock.readLock().participants()).toEqual([`${path}/xx__READ__0000000007`]);
          expect(await lock.writeLock().participants()).toEqual([]);
        }),
      );
    });

    /** With a node of another client in the directory. */
    async function withStranger(name: string, work: () => Promise<void>): Promise<void> {
      const { mine, stranger, key, path } = stage();
      await mine.readLock(key).using(async () => {
        await stranger.create(`${path}/${name}`, EMPTY, CreateMode.EPHEMERAL);
      });
      await work();
      if (await stranger.exists(`${path}/${name}`)) await stranger.delete(`${path}/${name}`);
    }

    /** It gets in when the other node goes, not before; that node is there again when that is shown. */
    async function expectToWait(half: 'read' | 'write', name: string): Promise<void> {
      const { mine, stranger, key, path } = stage();
      const lock = mine.half(half, key);
      expect(await lock.tryAcquire()).toBeUndefined();
      const { lease } = await stage().queueFor(lock, mine);
      await stranger.delete(`${path}/${name}`);
      const held = await lease;
      await stranger.create(`${path}/${name}`, EMPTY, CreateMode.EPHEMERAL);
      await held.release();
    }
  });

  describe('are those of one recipe only', () => {
    it('a mutex and a read/write lock of one key are refused, whichever comes second', async () => {
      const { mine, key, path } = stage();
      mine.locks.readWriteLock(key);
      expect(() => mine.locks.mutex(key)).toThrow(LockKeyError);
      expect(() => mine.locks.semaphoreMutex(path)).toThrow(LockKeyError);
      mine.locks.mutex(`${key}-2`);
      expect(() => mine.locks.readWriteLock(`${key}-2`)).toThrow(LockKeyError);
      expect(() => mine.locks.readWriteLock(`${path}-2`)).toThrow(/mutex/);
    });

    it('the same recipe may be asked for again, and the refused one leaves no trace', async () => {
      const { mine, key, path } = stage();
      expect(mine.locks.readWriteLock(key).key).toBe(key);
      expect(() => mine.locks.mutex(key)).toThrow(LockKeyError);
      expect(mine.locks.readWriteLock(path).key).toBe(path);
      await using lease = await mine.locks.readWriteLock(path).readLock().acquire();
      expect(lease.isHeld).toBe(true);
    });

    it('but a client cannot know which recipe other clients use for the key', async () => {
      const { mine, theirs, key } = stage();
      await using writer = await mine.writeLock(key).acquire();
      await using holder = await theirs.mutex(key).acquire(); // as in Curator: they do not exclude each other
      expect([writer.isHeld, holder.isHeld]).toEqual([true, true]);
    });
  });

  it.each(HALVES)('of the %s half cost as few requests as those of a mutex', async (half) => {
    const { mine, key } = stage();
    const lock = mine.half(half, key);
    const cycle = async () => {
      const before = mine.requests.length;
      await lock.using(async () => {});
      return mine.requests.slice(before).map(({ op }) => op);
    };
    await cycle(); // makes the directory
    expect(await cycle()).toEqual(['create', 'exists', 'getChildren', 'delete']);
    expect(await cycle()).toEqual(['create', 'delete']);
    expect(await cycle()).toEqual(['create', 'delete']);
  });

  function lockOf(client: Client, half: 'read' | 'write', data?: string | Uint8Array) {
    const lock = client.locks.readWriteLock(stage().key, data === undefined ? {} : { data });
    return half === 'read' ? lock.readLock() : lock.writeLock();
  }
}

/** What there is to a read/write lock on ZooKeeper because every waiter and every downgrade has a node of its own. */
export function readWriteStrangersSuite(stage: () => Stage): void {
  it.each(HALVES)(
    'is made again when another client deletes that of the waiting %s lock',
    async (half) => {
      const { mine, theirs, stranger, key, path } = stage();
      const holder = await mine.writeLock(key).acquire();
      const [ahead] = await stage().nodes();
      const { lease } = await stage().queueFor(theirs.half(half, key), theirs);
      await stage().caughtUp(theirs); // it waits, and its watches are set
      const own = (await stage().nodes()).find((node) => node !== ahead)!;
      await stranger.delete(`${path}/${own}`);
      await eventually('it has another node', async () => {
        const nodes = await stage().nodes();
        return nodes.length === 2 && !nodes.includes(own);
      });
      expect(await isSettled(lease)).toBe(false);
      await holder.release();
      await (await lease).release();
    },
  );

  it('lets the read go on when another client deletes that of a writer that reads on', async () => {
    const { mine, theirs, stranger, key } = stage();
    const { writer, reader } = await downgrade(mine, key);
    const { lease: queued } = await stage().queueFor(theirs.writeLock(key), theirs);
    const { signal } = writer;
    await stranger.delete(writer.paths[0]!);
    await eventually('the signal of the writer aborts', () => signal.aborted);
    await stage().caughtUp(theirs);
    expect([writer.isHeld, reader.isHeld, await isSettled(queued)]).toEqual([false, true, false]);
    await Promise.all([writer.release(), reader.release()]);
    await (await queued).release();
  });

  it('is deleted by another client as a writer begins to read: the writer does not read, or does and goes on', async () => {
    const { mine, theirs, stranger, key } = stage();
    const lock = mine.locks.readWriteLock(key);
    const writer = await lock.writeLock().acquire();
    writer.makeRevocable(() => {}); // it watches its node from now on
    await stage().caughtUp(mine);
    const { lease: queued } = await stage().queueFor(theirs.writeLock(key), theirs);
    stage().freeze();
    const deleting = stranger.delete(writer.paths[0]!);
    const trying = writer.run(() => lock.readLock().tryAcquire());
    stage().thaw();
    await deleting;
    const reader = await trying;
    await stage().caughtUp(theirs);
    expect(await isSettled(queued)).toBe(reader === undefined);
    await reader?.release();
    await (await queued).release();
    await writer.release();
  });

  it('has, for a downgrade, the number of the writer, so that it takes no place behind those that queue', async () => {
    const { mine, stranger, key, path } = stage();
    const { writer, reader } = await downgrade(mine, key);
    const nodes = (await stage().nodes()).sort(byHalf);
    expect(nodes).toEqual([
      expect.stringMatching(/^_c_[0-9a-f-]{36}-__READ__0000000000$/),
      expect.stringMatching(/^_c_[0-9a-f-]{36}-__WRIT__0000000000$/),
    ]);
    const { stat } = await stranger.getData(`${path}/${nodes[0]}`);
    expect(stat.ephemeralOwner).toBe(mine.connection.session!.id);
    await writer.release();
    await reader.release();
    expect(await stage().nodes()).toEqual([]);
  });

  describe('costs no more than it has to', () => {
    it.each(HALVES)('no watch for a tryAcquire of the %s lock', async (half) => {
      const { mine, theirs, key } = stage();
      await using _ = await theirs.writeLock(key).acquire();
      expect(await mine.half(half, key).tryAcquire()).toBeUndefined();
      expect(mine.requests.filter((request) => 'watch' in request && request.watch)).toEqual([]);
    });

    it('no node for an upgrade that names the lock by its path, which is refused too', async () => {
      const { mine, key, path } = stage();
      await mine.readLock(key).using(async () => {
        const refused = mine.writeLock(path).acquire();
        await expect(refused).rejects.toBeInstanceOf(LockUpgradeError);
        expect(await stage().nodes()).toHaveLength(1);
      });
    });
  });
}

/** Readers before writers. */
function byHalf(a: string, b: string): number {
  return a.slice(-18) < b.slice(-18) ? -1 : 1;
}
