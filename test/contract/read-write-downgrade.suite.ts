import { describe, expect, it } from '@jest/globals';
import { LockClientClosedError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { isSettled } from '../support/is-settled.js';
import { downgrade } from './downgrade.js';
import type { LockStage } from './lock-stage.js';

/** The read lock taken inside of the held write lock: no other client comes in between. */
export function readWriteDowngradeSuite(stage: () => LockStage): void {
  it('goes on when the write lock is released (Curator: testDowngrading)', async () => {
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

  it('leaves the writer alone when it ends first', async () => {
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
