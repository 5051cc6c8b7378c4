import { expect, it } from '@jest/globals';
import {
  LockClientClosedError,
  LockKeyError,
  LockOptionsError,
} from '../../lib/core/errors/index.js';
import { RetryForever, RetryNTimes } from '../../lib/zookeeper/connection/retry-policies.js';
import type { AtomicOptions } from '../../lib/zookeeper/atomic/atomic-options.js';
import type { DistributedAtomicLong } from '../../lib/zookeeper/atomic/distributed-atomic-number.js';
import { eventually } from '../support/eventually.js';
import { afterReading } from './after-reading.js';
import type { Client } from './client.js';
import type { Stage } from './stage.js';

/** Tries three times, without a pause. */
const THREE_TRIES = new RetryNTimes(2, 0);

/** What a number does when others come in between: it tries again, then takes a lock, then gives up. */
export function atomicPromotionSuite(stage: () => Stage): void {
  const make = ({ locks }: Client, options: AtomicOptions = {}): DistributedAtomicLong =>
    locks.atomicLong(stage().key, { retryPolicy: THREE_TRIES, ...options });
  const value = async () => {
    const { stranger, path } = stage();
    await stranger.sync(path);
    return (await stranger.getData(path)).data.readBigInt64BE();
  };
  /** Another client adds 100 whenever the client has read it, so many times. */
  const overtake = (times: number) => {
    const { mine, stranger, path } = stage();
    return afterReading(mine, path, async (reading) => {
      if (reading > times) return;
      const next = Buffer.alloc(8);
      next.writeBigInt64BE((await value()) + 100n);
      await stranger.setData(path, next);
    });
  };

  it('tries again with the current value', async () => {
    const counter = make(stage().mine);
    await counter.forceSet(1n);
    const stop = overtake(2);
    const changed = await counter.increment();
    stop();
    expect(changed).toMatchObject({ succeeded: true, preValue: 201n, postValue: 202n });
    expect(changed.stats).toMatchObject({ optimisticTries: 3, promotedLockTries: 0 });
    expect(await value()).toBe(202n);
  });

  it('takes the lock after the tries of its policy, and releases it', async () => {
    const { mine, theirs, key } = stage();
    const counter = make(mine);
    await counter.forceSet(1n);
    const recipes: unknown[] = [];
    mine.locks.on('acquired', (event) => recipes.push([event.key, event.recipe]));
    const stop = overtake(3);
    const changed = await counter.increment();
    stop();
    expect(changed).toMatchObject({ succeeded: true, preValue: 301n, postValue: 302n });
    expect(changed.stats).toMatchObject({ optimisticTries: 3, promotedLockTries: 1 });
    expect(changed.stats.promotedTimeMs).toBeGreaterThan(0);
    expect(recipes).toEqual([[`${key}-lock`, 'mutex']]);
    await using free = await theirs.mutex(`${key}-lock`).acquire({ wait: 10_000 });
    expect(free.isHeld).toBe(true);
  });

  it('does not overwrite the changes of clients without the lock, even when it has taken the lock', async () => {
    const counter = make(stage().mine);
    await counter.forceSet(1n);
    const stop = overtake(5);
    const changed = await counter.increment();
    stop();
    expect(changed).toMatchObject({ succeeded: true, preValue: 501n, postValue: 502n });
    expect(changed.stats).toMatchObject({ optimisticTries: 3, promotedLockTries: 3 });
  });

  it('gives up after the tries in the lock, and has changed nothing', async () => {
    const { mine, theirs, key } = stage();
    const counter = make(mine, { promotedToLock: { retryPolicy: new RetryNTimes(1, 0) } });
    await counter.forceSet(1n);
    const stop = overtake(5);
    const changed = await counter.increment();
    stop();
    expect(changed).toMatchObject({ succeeded: false, preValue: 401n, postValue: 401n });
    expect(changed.stats).toMatchObject({ optimisticTries: 3, promotedLockTries: 2 });
    expect(await value()).toBe(501n);
    await using free = await theirs.mutex(`${key}-lock`).acquire({ wait: 10_000 });
    expect(free.isHeld).toBe(true);
  });

  it('takes no lock with promotedToLock: false', async () => {
    const counter = make(stage().mine, { promotedToLock: false });
    await counter.forceSet(1n);
    const stop = overtake(3);
    const changed = await counter.trySet(7n);
    stop();
    expect(changed).toMatchObject({ succeeded: false, preValue: 201n, postValue: 201n });
    expect(changed.stats).toMatchObject({ optimisticTries: 3, promotedLockTries: 0 });
    expect(await value()).toBe(301n);
  });

  it('gives up when it does not get the lock in time', async () => {
    const { mine, theirs, key } = stage();
    const counter = make(mine, { promotedToLock: { key: `other-${key}`, wait: 50 } });
    await counter.forceSet(1n);
    await using _held = await theirs.mutex(`other-${key}`).acquire();
    const stop = overtake(3);
    const changed = await counter.increment();
    stop();
    expect(changed).toMatchObject({ succeeded: false, preValue: 201n, postValue: 201n });
    expect(changed.stats).toMatchObject({ optimisticTries: 3, promotedLockTries: 0 });
    expect(await value()).toBe(301n);
  });

  it('goes on in a lock that its caller holds', async () => {
    const { mine, key } = stage();
    const counter = make(mine);
    await counter.forceSet(1n);
    const stop = overtake(3);
    const changed = await mine.mutex(`${key}-lock`).using(() => counter.increment());
    stop();
    expect(changed).toMatchObject({ succeeded: true, postValue: 302n });
    expect(changed.stats.promotedLockTries).toBe(1);
  });

  it('ends with the client while it waits for the lock', async () => {
    const { mine, theirs, key } = stage();
    const counter = make(mine);
    await counter.forceSet(1n);
    const held = await theirs.mutex(`${key}-lock`).acquire();
    const stop = overtake(3);
    const changing = counter.increment();
    const refused = expect(changing).rejects.toBeInstanceOf(LockClientClosedError);
    await eventually(
      'it waits',
      async () => (await stage().nodes(`${stage().path}-lock`)).length === 2,
    );
    await mine.locks.close();
    await refused;
    stop();
    await held.release();
    expect(await value()).toBe(301n);
  });

  it('ends with the client while it pauses', async () => {
    const { mine } = stage();
    const counter = make(mine, { retryPolicy: new RetryForever(600_000) });
    await counter.forceSet(1n);
    const stop = overtake(1);
    const changing = counter.increment();
    const refused = expect(changing).rejects.toBeInstanceOf(LockClientClosedError);
    await eventually('it was overtaken', async () => (await value()) === 101n);
    await stage().caughtUp(mine);
    await mine.locks.close();
    await refused;
    stop();
    expect(await value()).toBe(101n);
  });

  it.each<[string, unknown]>([
    ['retryPolicy', { retryPolicy: 3 }],
    ['retryPolicy', { retryPolicy: null }],
    ['promotedToLock', { promotedToLock: true }],
    ['promotedToLock', { promotedToLock: null }],
    ['wait', { promotedToLock: { wait: 0 } }],
    ['promotedToLock.retryPolicy', { promotedToLock: { retryPolicy: {} } }],
  ])('refuses an invalid option: %s, %p', (option, options) => {
    const { mine, key } = stage();
    expect(() => mine.locks.atomicLong(key, options as AtomicOptions)).toThrow(
      expect.objectContaining({ constructor: LockOptionsError, option }),
    );
    expect(() => mine.locks.atomicInteger(`${key}-other`, options as AtomicOptions)).toThrow(
      LockOptionsError,
    );
  });

  it('refuses a lock of its own key, and an invalid key', () => {
    const { mine, key } = stage();
    for (const wrong of [key, '', '/a//b'])
      expect(() => mine.locks.atomicLong(key, { promotedToLock: { key: wrong } })).toThrow(
        LockKeyError,
      );
  });
}
