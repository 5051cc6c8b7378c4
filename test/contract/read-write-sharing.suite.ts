import { describe, expect, it } from '@jest/globals';
import type { Lease } from '../../lib/core/lease.js';
import { eventually } from '../support/eventually.js';
import { isSettled } from '../support/is-settled.js';
import type { LockStage } from './lock-stage.js';
import type { StageClient } from './stage-client.js';

/**
 * Many readers or one writer, in the order of the queue.
 *
 * @param order which client is served first: the first in the queue; a writer that waits; or any
 */
export function readWriteSharingSuite(
  stage: () => LockStage,
  order: 'queue' | 'writers' | 'any' = 'queue',
): void {
  it('lets several readers in at once, and no writer', async () => {
    const { mine, theirs, key } = stage();
    const readers = await Promise.all(
      [mine, theirs, mine, theirs].map((client) => client.readLock(key).acquire()),
    );
    expect(readers.map(({ isHeld }) => isHeld)).toEqual([true, true, true, true]);
    expect(await mine.writeLock(key).tryAcquire()).toBeUndefined();
    expect(await theirs.writeLock(key).tryAcquire()).toBeUndefined();

    await releaseAll(readers);
    await using writer = await theirs.writeLock(key).tryAcquire();
    expect(writer?.isHeld).toBe(true);
  });

  it('lets no writer in beside a reader that the writer could only know from a list', async () => {
    const { mine, key } = stage();
    for (let cycle = 0; cycle < 3; cycle++) await mine.readLock(key).using(async () => {}); // needs no list any more
    const first = await mine.readLock(key).acquire();
    const second = await mine.readLock(key).acquire();
    await first.release();
    expect(await mine.writeLock(key).tryAcquire()).toBeUndefined();
    await second.release();
  });

  it('lets a writer in alone', async () => {
    const { mine, theirs, key } = stage();
    const writer = await mine.writeLock(key).acquire();
    for (const client of [mine, theirs]) {
      expect(await client.readLock(key).tryAcquire()).toBeUndefined();
      expect(await client.writeLock(key).tryAcquire()).toBeUndefined();
    }
    await writer.release();
    await using reader = await theirs.readLock(key).tryAcquire();
    expect(reader?.isHeld).toBe(true);
  });

  describe('while others wait', () => {
    it('keeps a writer out until the last reader ahead has left, whichever leaves first', async () => {
      const { mine, theirs, key } = stage();
      const readers = [
        await mine.readLock(key).acquire(),
        await mine.readLock(key).acquire(),
        await mine.readLock(key).acquire(),
      ];
      const { lease: writer } = await queueHalf('write', theirs);
      for (const place of [1, 2]) {
        await readers[place]!.release();
        await stage().caughtUp(theirs);
        expect(await isSettled(writer)).toBe(false);
      }
      await readers[0]!.release();
      await (await writer).release();
    });

    it('lets readers join those inside when the writer between them gives up', async () => {
      const { mine, theirs, key } = stage();
      await using _ = await mine.readLock(key).acquire();
      const leave = new AbortController();
      const writer = await stage().queueFor(mine.writeLock(key), mine, { signal: leave.signal });
      const { lease: joining } = await queueHalf('read', theirs);
      const { lease: alsoJoining } = await queueHalf('read', mine);
      leave.abort();
      await expect(writer.lease).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
      await releaseAll(await Promise.all([joining, alsoJoining]));
    });

    it('lets no reader in when the writer before it gives up, but another one writes', async () => {
      const { mine, theirs, key } = stage();
      const writer = await mine.writeLock(key).acquire();
      const leave = new AbortController();
      await stage().queueFor(mine.writeLock(key), mine, { signal: leave.signal });
      const { lease: reader } = await queueHalf('read', theirs);
      leave.abort();
      await eventually('it has left', async () => (await stage().contenders()).length === 2);
      await stage().caughtUp(theirs);
      expect(await isSettled(reader)).toBe(false);
      await writer.release();
      await (await reader).release();
    });

    it('does not let a writer in when the waiter before it gives up', async () => {
      const { mine, theirs, key } = stage();
      const reader = await mine.readLock(key).acquire();
      const leave = new AbortController();
      await stage().queueFor(mine.writeLock(key), mine, { signal: leave.signal });
      const { lease: writer } = await queueHalf('write', theirs);
      leave.abort();
      await eventually('it has left', async () => (await stage().contenders()).length === 2);
      await stage().caughtUp(theirs);
      expect(await isSettled(writer)).toBe(false);
      await reader.release();
      await (await writer).release();
    });
  });

  if (order !== 'any')
    it('keeps a reader behind a writer that waits, though only readers are inside', async () => {
      const { mine, theirs, key } = stage();
      const reader = await mine.readLock(key).acquire();
      const { lease: writer } = await queueHalf('write', theirs);
      expect(await mine.readLock(key).tryAcquire()).toBeUndefined();
      const { lease: late } = await queueHalf('read', mine);

      await reader.release();
      const writing = await writer;
      expect(await isSettled(late)).toBe(false);
      await writing.release();
      await using reading = await late;
      expect(reading.isHeld).toBe(true);
    });

  if (order === 'queue')
    describe('in the order of the queue', () => {
      it('serves readers together and writers one by one', async () => {
        const { mine, theirs, key } = stage();
        const first = await mine.writeLock(key).acquire();
        const served: string[] = [];
        const leases: Promise<Lease>[] = [];
        const queue = ['r1', 'r2', 'w3', 'w4', 'r5', 'r6', 'r7', 'w8'];
        for (const [place, name] of queue.entries()) {
          const half = name.startsWith('r') ? 'read' : 'write';
          const { lease } = await queueHalf(half, place % 2 ? mine : theirs);
          leases.push(lease);
          void lease.then(() => served.push(name));
        }

        await first.release();
        const groups = [['r1', 'r2'], ['w3'], ['w4'], ['r5', 'r6', 'r7'], ['w8']];
        for (const group of groups) {
          const inside = await Promise.all(leases.splice(0, group.length)); // all, before one leaves
          expect(served.splice(0).sort()).toEqual(group);
          await releaseAll(inside);
        }
      });

      it('keeps a reader out until the last writer ahead has left', async () => {
        const { mine, theirs, key } = stage();
        const first = await mine.writeLock(key).acquire();
        const { lease: second } = await queueHalf('write', mine);
        const { lease: third } = await queueHalf('write', mine);
        const { lease: reader } = await queueHalf('read', theirs);
        await first.release();
        for (const writer of [second, third]) {
          const writing = await writer;
          await stage().caughtUp(theirs);
          expect(await isSettled(reader)).toBe(false);
          await writing.release();
        }
        await (await reader).release();
      });
    });

  function queueHalf(
    half: 'read' | 'write',
    client: StageClient,
  ): Promise<{ lease: Promise<Lease> }> {
    return stage().queueFor(client.half(half, stage().key), client);
  }
}

async function releaseAll(leases: readonly Lease[]): Promise<void> {
  await Promise.all(leases.map((lease) => lease.release()));
}
