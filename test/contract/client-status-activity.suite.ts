import { expect, it } from '@jest/globals';
import { LockTimeoutError } from '../../lib/core/errors/index.js';
import type { LockActivity } from '../../lib/core/lock-client.js';
import { eventually } from '../support/eventually.js';
import type { LockStage } from './lock-stage.js';
import type { StageClient } from './stage-client.js';

/**
 * What it holds, and what it waits for.
 *
 * @param holders the holders of the mutex of the test, as the servers know them
 * @param hasAllRecipes has it other locks than mutexes?
 */
export function clientActivitySuite(
  stage: () => LockStage,
  holders: () => Promise<unknown[]>,
  hasAllRecipes: boolean,
): void {
  const counts = ({ locks }: StageClient) => {
    const { held, waiting } = locks.status();
    return [held, waiting];
  };
  /** Without the times. */
  const activity = ({ locks }: StageClient) =>
    locks.activity().map(({ forMs, ...rest }): Omit<LockActivity, 'forMs'> => {
      expect(forMs).toBeGreaterThanOrEqual(0);
      return rest;
    });

  it('shows no lock at first', () => {
    const { mine } = stage();
    expect(counts(mine)).toEqual([0, 0]);
    expect(activity(mine)).toEqual([]);
  });

  it('shows a held lock: which one, which method asked for it, and its holders as the servers know them', async () => {
    const { mine, theirs, key } = stage();
    const lock = mine.lock(key);
    const lease = await lock.acquire({ method: 'Seats.take' });
    expect(counts(mine)).toEqual([1, 0]);
    expect(counts(theirs)).toEqual([0, 0]);
    const { recipe, name } = lock.identity;
    const about = { state: 'held', key, recipe, method: 'Seats.take', name };
    await eventually('the servers know its holders', async () => {
      const known = await holders();
      expect(activity(mine)).toEqual([{ ...about, holders: expect.arrayContaining(known) }]);
      expect(mine.locks.activity()[0]!.holders).toHaveLength(known.length);
      return known.length > 0;
    });

    await lease.release();
    expect(counts(mine)).toEqual([0, 0]);
    expect(activity(mine)).toEqual([]);
  });

  it('shows the waiting acquires: for which lock, and which method asked for it', async () => {
    const { mine, theirs, key } = stage();
    const lock = mine.lock(key);
    const holder = await lock.acquire();
    const one = await stage().queue(theirs, { method: 'Seats.take' });
    const two = await stage().queue(theirs);
    expect(counts(mine)).toEqual([1, 0]);
    expect(counts(theirs)).toEqual([0, 2]);
    const { recipe } = lock.identity;
    const waiting = { state: 'waiting', key, recipe, holders: [] };
    expect(activity(theirs)).toEqual([{ ...waiting, method: 'Seats.take' }, waiting]);

    await holder.release();
    await (await Promise.race([one.lease, two.lease])).release();
    for (const { lease } of [one, two]) await (await lease).release();
    expect(counts(theirs)).toEqual([0, 0]);
  });

  it('shows for how long a lock is held or waited for', async () => {
    const { mine, theirs, key } = stage();
    const [heldFrom, holder, heldBy] = await timed(() => mine.lock(key).acquire());
    const [waitsFrom, { lease }, waitsBy] = await timed(() => stage().queue(theirs));
    await stage().caughtUp(theirs);
    const before = performance.now();
    const [held] = mine.locks.activity();
    const [waiting] = theirs.locks.activity();
    const after = performance.now();
    expect(held!.forMs).toBeGreaterThanOrEqual(before - heldBy);
    expect(held!.forMs).toBeLessThanOrEqual(after - heldFrom);
    expect(waiting!.forMs).toBeGreaterThanOrEqual(before - waitsBy);
    expect(waiting!.forMs).toBeLessThanOrEqual(after - waitsFrom);

    await holder.release();
    const next = await lease;
    const waited = performance.now() - waitsFrom;
    const [taken] = theirs.locks.activity();
    expect(taken!.state).toBe('held');
    expect(taken!.forMs).toBeLessThan(waited); // it counts from the grant
    await next.release();
  });

  it('does not show acquires after their wait has ended', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await mine.lock(key).acquire();
    await expect(theirs.lock(key).acquire({ wait: 50 })).rejects.toBeInstanceOf(LockTimeoutError);
    expect(await theirs.lock(key).tryAcquire()).toBeUndefined();
    expect(counts(theirs)).toEqual([0, 0]);
    expect(activity(theirs)).toEqual([]);
  });

  it('does not show a lost lock, though it is not released yet', async () => {
    const { mine, key } = stage();
    const lease = await mine.lock(key).acquire();
    await stage().expire(mine);
    expect(lease.isHeld).toBe(false);
    expect(counts(mine)).toEqual([0, 0]);
    expect(activity(mine)).toEqual([]);
    await lease.release();
  });

  it('counts a mutex that is entered again once', async () => {
    const { mine, key } = stage();
    await mine.lock(key).using((lease) =>
      lease.run(async () => {
        await using _ = await mine.lock(key).acquire();
        expect(counts(mine)).toEqual([1, 0]);
      }),
    );
    expect(counts(mine)).toEqual([0, 0]);
  });

  it('counts a multi-lock by its parts', async () => {
    const { mine, key } = stage();
    const parts = [`${key}-a`, `${key}-b`].map((part) => mine.lock(part));
    await mine.locks.multiLock(parts).using(async () => {
      expect(counts(mine)).toEqual([2, 0]);
      expect(activity(mine)).toMatchObject([{ key: `${key}-a` }, { key: `${key}-b` }]);
    });
    expect(counts(mine)).toEqual([0, 0]);
  });

  if (!hasAllRecipes) return;

  it('shows the recipe of each lock', async () => {
    const { mine, key } = stage();
    const { locks } = mine;
    const readWrite = locks.readWriteLock(`${key}-rw`);
    const each = [
      locks.mutex(`${key}-m`),
      locks.semaphoreMutex(`${key}-sm`),
      readWrite.readLock(),
      locks.readWriteLock(`${key}-w`).writeLock(),
      locks.semaphore(`${key}-s`, { permits: 3 }),
    ];
    const leases = await Promise.all(each.map((lock) => lock.acquire()));
    const kinds = locks.activity().map(({ key, recipe }) => [key, recipe]);
    const expected = each.map(({ key, identity }) => [key, identity.recipe]);
    expect(kinds).toEqual(expect.arrayContaining(expected));
    expect(counts(mine)).toEqual([5, 0]);
    await Promise.all(leases.map((lease) => lease.release()));
  });

  it('shows several permits of a semaphore as one hold, with a holder for each', async () => {
    const { mine, key } = stage();
    const semaphore = mine.locks.semaphore(key, { permits: 3 });
    const lease = await semaphore.acquire({ permits: 2 });
    expect(counts(mine)).toEqual([1, 0]);
    expect(mine.locks.activity()[0]!.holders).toHaveLength(2);
    await lease.release();
  });
}

/** With the times before and after. */
async function timed<T>(work: () => Promise<T>): Promise<readonly [number, T, number]> {
  const from = performance.now();
  const result = await work();
  return [from, result, performance.now()];
}
