import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import {
  LockClientClosedError,
  LockTimeoutError,
  LockUpgradeError,
} from '../../lib/core/errors/index.js';
import { currentLease } from '../../lib/core/internal/lease-scope.js';
import type { Lease } from '../../lib/core/lease.js';
import type { Lock } from '../../lib/core/lock.js';
import { isSettled } from '../support/time.js';
import { downgrade } from './backends/leases.js';
import { contendersBecome, type LockStage, type StageClient } from './backends/stage.js';

/** What a holder of one half gets of the same lock, inside of its lease and outside. */
export function readWriteNestingSuite(stage: () => LockStage): void {
  describe('asked for again', () => {
    it.each([
      ['read', 'read', 'enters'],
      ['read', 'write', 'is refused'],
      ['write', 'read', 'enters'],
      ['write', 'write', 'enters'],
    ] as const)('inside of the held %s lock, the %s lock %s', async (held, wanted, outcome) => {
      const { mine, key } = stage();
      await mine.half(held, key).using(async () => {
        expect(await outcomeOf(mine.half(wanted, key))).toBe(outcome);
      });
      expect(await stage().contenders()).toEqual([]);
    });

    it.each([
      ['read', 'read', 'enters'],
      ['read', 'write', 'waits'],
      ['write', 'read', 'waits'],
      ['write', 'write', 'waits'],
    ] as const)(
      'of another owner that holds the %s lock, the %s lock %s (Curator: testThatDowngradingRespectsThreads)',
      async (held, wanted, outcome) => {
        const { mine, theirs, key } = stage();
        await using _ = await mine.half(held, key).acquire();
        expect(await outcomeOf(mine.half(wanted, key))).toBe(outcome); // not in its scope
        expect(await outcomeOf(theirs.half(wanted, key))).toBe(outcome);
        await contendersBecome(stage(), 1);
      },
    );

    it('by its own kind, asks the servers for nothing (Redisson: RedissonReadWriteLockTest testReentrancy)', async () => {
      const { mine, key } = stage();
      for (const half of ['read', 'write'] as const) {
        await mine.half(half, key).using(async (outer) => {
          const asked = mine.requests.length;
          await mine.half(half, key).using(async (inner) => {
            expect(currentLease()).toBe(inner);
            expect(inner).not.toBe(outer);
          });
          expect(mine.requests).toHaveLength(asked);
        });
      }
    });

    it('by another client, waits', async () => {
      const { mine, theirs, key } = stage();
      await mine.writeLock(key).using(async () => {
        expect(await outcomeOf(theirs.readLock(key))).toBe('waits');
      });
    });

    it('inside of a multi-lock that it is a part of, goes as it would without', async () => {
      const { mine, key } = stage();
      const other = mine.locks.mutex('another');
      const [reading, writing] = [mine.readLock(key), mine.writeLock(key)];
      await mine.locks.multiLock([other, writing]).using(async () => {
        expect(await outcomeOf(reading)).toBe('enters');
        expect(await outcomeOf(writing)).toBe('enters');
      });
      await mine.locks.multiLock([other, reading]).using(async () => {
        expect(await outcomeOf(reading)).toBe('enters');
        expect(await outcomeOf(writing)).toBe('is refused');
      });
    });

    it('is not refused in a scope after its read lock was released', async () => {
      const { mine, key } = stage();
      await mine.readLock(key).using(async (reader) => {
        await reader.release();
        await using writer = await mine.writeLock(key).tryAcquire();
        expect(writer?.isHeld).toBe(true);
      });
    });
  });

  describe('the upgrade from read to write (Curator: testThatUpgradingIsDisallowed)', () => {
    it('is refused at once, however it is asked for, and sends nothing', async () => {
      const { mine, key } = stage();
      await mine.readLock(key).using(async () => {
        const asked = mine.requests.length;
        const lock = mine.writeLock(key);
        for (const refused of [lock.acquire(), lock.tryAcquire(), lock.using(async () => {})]) {
          await expect(refused).rejects.toBeInstanceOf(LockUpgradeError);
          await expect(refused).rejects.toMatchObject({
            code: 'LOCK_UPGRADE',
            key,
            client: 'contract',
          });
        }
        expect(mine.requests).toHaveLength(asked);
        expect(await stage().contenders()).toHaveLength(1);
      });
    });

    it('leaves the read lock as it is', async () => {
      const { mine, theirs, key } = stage();
      await mine.readLock(key).using(async (reader) => {
        await expect(mine.writeLock(key).acquire()).rejects.toBeInstanceOf(LockUpgradeError);
        expect(reader.isHeld).toBe(true);
        expect(await theirs.writeLock(key).tryAcquire()).toBeUndefined();
      });
    });

    it('is refused also deep inside, and where the write lock that was downgraded is gone', async () => {
      const { mine, key } = stage();
      const reader = await mine.writeLock(key).using(() => mine.readLock(key).acquire());
      await reader.run(() =>
        mine.readLock(key).using(async () => {
          expect(await outcomeOf(mine.writeLock(key))).toBe('is refused');
        }),
      );
      await reader.release();
    });

    it('is no upgrade where the write lock is held further out', async () => {
      const { mine, key } = stage();
      const [reading, writing] = [mine.readLock(key), mine.writeLock(key)];
      const depth = await writing.using(() => reading.using(() => writing.using(async () => 3)));
      expect(depth).toBe(3);
    });

    it('is no upgrade where another client reads: it waits', async () => {
      const { mine, theirs, key } = stage();
      await mine.readLock(key).using(async () => {
        expect(await theirs.writeLock(key).tryAcquire()).toBeUndefined();
      });
    });
  });
}

/** What becomes of an acquire now; of an attempt that does not wait and of one that does. */
async function outcomeOf(lock: Lock): Promise<'enters' | 'waits' | 'is refused'> {
  try {
    const tried = await lock.tryAcquire();
    const acquired = await lock.acquire({ wait: tried ? 10_000 : 20 });
    expect(tried?.isHeld).toBe(true);
    await Promise.all([tried!.release(), acquired.release()]);
    return 'enters';
  } catch (error) {
    if (error instanceof LockUpgradeError) return 'is refused';
    if (error instanceof LockTimeoutError) return 'waits';
    throw error;
  }
}

/** The read lock taken inside of the held write lock: no other client comes in between. */
export function readWriteDowngradeSuite(stage: () => LockStage): void {
  it('goes on when the write lock is released (Curator: testDowngrading) (Redisson: RedissonReadWriteLockTest testWriteReadReentrancy)', async () => {
    const { mine, theirs, key } = stage();
    const { writer, reader } = await downgrade(mine, key);
    expect([writer.isHeld, reader.isHeld]).toEqual([true, true]);
    expect(await theirs.readLock(key).tryAcquire()).toBeUndefined();

    await writer.release();
    expect([writer.isHeld, reader.isHeld, reader.signal.aborted]).toEqual([false, true, false]);
    const other = await theirs.readLock(key).tryAcquire();
    expect(other?.isHeld).toBe(true);
    await other!.release();
    expect(await theirs.writeLock(key).tryAcquire()).toBeUndefined();
    expect(await mine.writeLock(key).tryAcquire()).toBeUndefined();

    await reader.release();
    await using next = await theirs.writeLock(key).tryAcquire();
    expect(next?.isHeld).toBe(true);
  });

  it('leaves the writer alone when it ends first (Redisson: RedissonReadWriteLockTest testWR)', async () => {
    const { mine, theirs, key } = stage();
    const { writer, reader } = await downgrade(mine, key);
    await reader.release();
    expect(writer.isHeld).toBe(true);
    expect(await stage().contenders()).toHaveLength(1);
    expect(await theirs.readLock(key).tryAcquire()).toBeUndefined();
    await using again = await writer.run(() => mine.readLock(key).tryAcquire());
    expect(again?.isHeld).toBe(true);
    await writer.release();
  });

  it.each(['before', 'after'])(
    'keeps out a writer that queued %s it, until the read ends (Curator: testContendingDowngrading)',
    async (when) => {
      const { mine, theirs, key } = stage();
      const queue = () => stage().queueFor(theirs.writeLock(key), theirs);
      const writer = await mine.writeLock(key).acquire();
      const early = when === 'before' ? await queue() : undefined;
      const reader = await writer.run(() => mine.readLock(key).acquire());
      const { lease: queued } = early ?? (await queue());

      await writer.release();
      await stage().caughtUp(theirs);
      expect(await isSettled(queued)).toBe(false);
      expect(reader.isHeld).toBe(true);

      await reader.release();
      await using next = await queued;
      expect(next.isHeld).toBe(true);
    },
  );

  it('is seen also by a client that knows the directory so well that it needs no list', async () => {
    const { mine, key } = stage();
    for (let cycle = 0; cycle < 3; cycle++) await mine.writeLock(key).using(async () => {});
    const { writer, reader } = await downgrade(mine, key);
    await writer.release();
    expect(await mine.writeLock(key).tryAcquire()).toBeUndefined();
    await reader.release();
  });

  it('lets in a reader that is first in the queue, when the write lock is released', async () => {
    const { mine, theirs, key } = stage();
    const { writer, reader } = await downgrade(mine, key);
    const { lease: queued } = await stage().queueFor(theirs.readLock(key), theirs);
    await writer.release();
    await using other = await queued;
    expect([reader.isHeld, other.isHeld]).toEqual([true, true]);
    await reader.release();
  });

  it('lets no other caller of its client in, while the write lock is held', async () => {
    const { mine, key } = stage();
    for (let round = 0; round < 10; round++) {
      // ZooKeeper: two nodes have the number of the writer, and stand in the order of their random ids.
      const [read, write] = [mine.readLock(`${key}-${round}`), mine.writeLock(`${key}-${round}`)];
      const writer = await write.acquire();
      const leaving = new AbortController();
      const { lease: between } = await stage().queueFor(write, mine, { signal: leaving.signal });
      const outside = [];
      const inside = [];
      for (let pair = 0; pair < 5; pair++) {
        outside.push(read.acquire());
        inside.push(writer.run(() => read.acquire()));
        await nextTurn();
      }
      const readers = await Promise.all(inside);
      leaving.abort();
      await expect(between).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
      await stage().caughtUp(mine);
      expect(await isSettled(Promise.race(outside))).toBe(false);
      for (const lease of [...readers, writer]) await lease.release();
      for (const lease of await Promise.all(outside)) await lease.release();
    }
  });

  it('is there for every call inside: siblings share, and nested ones re-enter', async () => {
    const { mine, theirs, key } = stage();
    const read = mine.readLock(key);
    const writer = await mine.writeLock(key).acquire();
    const siblings = await writer.run(() => Promise.all([read.acquire(), read.acquire()]));
    await writer.release();
    await siblings[0].release();
    expect(await theirs.writeLock(key).tryAcquire()).toBeUndefined();
    await siblings[1].run(async () => {
      const asked = mine.requests.length;
      await using nested = await read.acquire();
      expect(nested.isHeld).toBe(true);
      expect(mine.requests).toHaveLength(asked);
    });
    await siblings[1].release();
  });

  it('is not granted where the write lock was released before: the read lock queues', async () => {
    const { mine, theirs, key } = stage();
    const writer = await mine.writeLock(key).acquire();
    const { lease: queued } = await stage().queueFor(theirs.writeLock(key), theirs);
    await writer.run(async () => {
      await writer.release();
      await using _ = await queued;
      expect(await mine.readLock(key).tryAcquire()).toBeUndefined();
    });
  });

  describe('while the client shuts down', () => {
    it('is still granted after refuse(), so that running work can end', async () => {
      const { mine, key } = stage();
      await mine.writeLock(key).using(async (writing) => {
        mine.locks.refuse();
        await using reading = await mine.readLock(key).acquire();
        expect([writing.isHeld, reading.isHeld]).toEqual([true, true]);
      });
      await expect(mine.readLock(key).acquire()).rejects.toBeInstanceOf(LockClientClosedError);
    });

    it('is refused after refuse() where the write lock was released: that would be a newcomer', async () => {
      const { mine, key } = stage();
      const writing = await mine.writeLock(key).acquire();
      await writing.run(async () => {
        await writing.release();
        mine.locks.refuse();
        await expect(mine.readLock(key).acquire()).rejects.toBeInstanceOf(LockClientClosedError);
      });
    });

    it('is refused after close()', async () => {
      const { mine, key } = stage();
      await mine.writeLock(key).using(async () => {
        const closed = mine.locks.close();
        await expect(mine.readLock(key).acquire()).rejects.toBeInstanceOf(LockClientClosedError);
        await closed;
      });
    });
  });

  describe('has the fencing token', () => {
    it('of its writer', async () => {
      const { mine, key } = stage();
      const { writer, reader } = await downgrade(mine, key);
      const token = await writer.fencingToken();
      await writer.release();
      expect(await reader.fencingToken()).toBe(token);
      await reader.release();
    });

    it('that the next owner exceeds, and so on from grant to grant', async () => {
      const { mine, theirs, key } = stage();
      const tokens: bigint[] = [];
      const note = async (lease: Lease) => void tokens.push(await lease.fencingToken());
      for (const client of [mine, theirs, mine]) {
        await client.writeLock(key).using(async (writer) => {
          await note(writer);
          await client.readLock(key).using(note);
        });
        await client.readLock(key).using(note);
      }
      expect(tokens).toHaveLength(9);
      for (let turn = 0; turn < 9; turn += 3) {
        expect(tokens[turn + 1]).toBe(tokens[turn]);
        expect(tokens[turn + 2]).toBeGreaterThan(tokens[turn + 1]!);
        if (turn > 0) expect(tokens[turn]).toBeGreaterThan(tokens[turn - 1]!);
      }
    });
  });
}

/** What a client reports of both halves of a lock. */
export function readWriteEventsSuite(stage: () => LockStage): void {
  it('report each half that is granted and released; a downgrade is a grant, a re-entry none', async () => {
    const { mine, key } = stage();
    const heard = eventsOf(mine);
    const { writer, reader } = await downgrade(mine, key);
    await reader.run(() => mine.readLock(key).using(async () => {}));
    expect(heard).toEqual(['acquired', 'acquired']);
    await Promise.all([writer.release(), reader.release()]);
    expect(heard).toEqual(['acquired', 'acquired', 'released', 'released']);
  });

  it('report that a reader waits for a writer, and that it is served', async () => {
    const { mine, theirs, key } = stage();
    const writer = await mine.writeLock(key).acquire();
    const heard = eventsOf(theirs);
    const { lease } = await stage().queueFor(theirs.readLock(key), theirs);
    await writer.release();
    await (await lease).release();
    expect(heard).toEqual(['contended', 'acquired', 'released']);
  });

  it('report that both are lost, writer and reader, and then not that they are released', async () => {
    const { mine, key } = stage();
    const { writer, reader } = await downgrade(mine, key);
    const heard = eventsOf(mine);
    await stage().expire(mine);
    await Promise.all([writer.release(), reader.release()]);
    expect(heard).toEqual(['lost', 'lost']);
  });

  it('report nothing of an upgrade, which sends nothing to the servers', async () => {
    const { mine, key } = stage();
    await mine.readLock(key).using(async () => {
      const heard = eventsOf(mine);
      await expect(mine.writeLock(key).acquire()).rejects.toBeInstanceOf(LockUpgradeError);
      expect(heard).toEqual([]);
    });
  });

  /** The kinds of the events that the client emits for the key from now on. */
  function eventsOf({ locks }: StageClient): string[] {
    const heard: string[] = [];
    for (const kind of ['acquired', 'contended', 'released', 'lost', 'failed'] as const)
      locks.on(kind, ({ key }) => key === stage().key && heard.push(kind));
    return heard;
  }
}
