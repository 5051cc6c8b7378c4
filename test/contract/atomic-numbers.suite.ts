import { describe, expect, it } from '@jest/globals';
import {
  CounterOverflowError,
  LockClientClosedError,
  LockKeyError,
  LockOptionsError,
} from '../../lib/core/errors/index.js';
import type { AtomicOptions } from '../../lib/zookeeper/atomic/atomic-options.js';
import type { DistributedAtomicLong } from '../../lib/zookeeper/atomic/distributed-atomic-number.js';
import { RetryForever, RetryNTimes } from '../../lib/zookeeper/connection/retry-policies.js';
import { eventually } from '../support/time.js';
import { afterReading, atomicLongSuite } from './atomic-long.suite.js';
import { ZooKeeperSemaphoreStage } from './backends/semaphores.js';
import { type Deployment, onStage } from './backends/stage.js';
import { type Backend, type Client, Stage } from './backends/zookeeper.js';

/** Everything that the atomic numbers promise; with the cases of Curator's TestDistributedAtomicLong. */
export function atomicNumbersSuite(on: Deployment<Backend>): void {
  describe(`On ${on.name}`, () => {
    const stage = onStage(() => Stage.build(on.backend()));
    describe('an atomic long', () => atomicLongSuite(on, stage));
    on.part('an atomic integer', 'server', () => atomicIntegerSuite(stage));
    on.part('an atomic number that others change too', 'server', () => atomicPromotionSuite(stage));
  });
}

const MOST_INT = 2 ** 31 - 1;
const LEAST_INT = -(2 ** 31);

/** What a 32-bit number does otherwise than one of 64 bits. */
function atomicIntegerSuite(stage: () => Stage): void {
  const of = ({ locks }: Client) => locks.atomicInteger(stage().key);
  const data = async () => {
    const { stranger, path } = stage();
    await stranger.sync(path);
    return (await stranger.getData(path)).data;
  };
  const expectValue = async (expected: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(expected);
    expect(await data()).toEqual(bytes);
  };

  it('counts up and down from 0, in numbers', async () => {
    const counter = of(stage().mine);
    expect(await counter.get()).toBe(0);
    const change = async (made: ReturnType<typeof counter.add>, from: number, to: number) =>
      expect(await made).toMatchObject({ succeeded: true, preValue: from, postValue: to });
    await change(counter.increment(), 0, 1);
    await change(counter.decrement(), 1, 0);
    await change(counter.add(10), 0, 10);
    await change(counter.subtract(5), 10, 5);
    await change(counter.trySet(-2), 5, -2);
    await expectValue(-2);
    await change(counter.compareAndSet(-2, 7), -2, 7);
    expect(await counter.compareAndSet(-2, 8)).toMatchObject({ succeeded: false, preValue: 7 });
    expect(await counter.initialize(9)).toBe(false);
    await counter.forceSet(12);
    expect(await counter.get()).toBe(12);
  });

  it('never goes beyond 32 bits, but to their ends', async () => {
    const counter = of(stage().mine);
    await counter.forceSet(MOST_INT);
    await Promise.all(
      [counter.increment(), counter.add(MOST_INT), counter.subtract(LEAST_INT)].map((beyond) =>
        expect(beyond).rejects.toBeInstanceOf(CounterOverflowError),
      ),
    );
    await expectValue(MOST_INT);
    expect(await counter.add(LEAST_INT)).toMatchObject({ postValue: -1 });
    expect(await counter.add(LEAST_INT + 1)).toMatchObject({ postValue: LEAST_INT });
    await Promise.all(
      [counter.decrement(), counter.add(LEAST_INT), counter.subtract(MOST_INT)].map((beyond) =>
        expect(beyond).rejects.toThrow(/32 bits/),
      ),
    );
    await expectValue(LEAST_INT);
  });

  it.each([1.5, NaN, MOST_INT + 1, LEAST_INT - 1, 1n, '3', undefined])(
    'is never %p',
    async (wrong) => {
      const counter = of(stage().mine);
      await counter.forceSet(1);
      const value = wrong as number;
      await Promise.all(
        [
          counter.add(value),
          counter.subtract(value),
          counter.trySet(value),
          counter.compareAndSet(value, 2),
          counter.compareAndSet(1, value),
          counter.forceSet(value),
          counter.initialize(value),
        ].map((refused) => expect(refused).rejects.toBeInstanceOf(LockOptionsError)),
      );
      await expectValue(1);
    },
  );

  it('is none where there are eight bytes', async () => {
    const { mine, theirs, key } = stage();
    await mine.locks.atomicLong(key).increment();
    await stage().caughtUp(theirs);
    await expect(of(theirs).increment()).rejects.toBeInstanceOf(LockKeyError);
    expect(await data()).toHaveLength(8);
  });

  it('is a shared count too', async () => {
    const { mine, theirs, key } = stage();
    const count = mine.locks.sharedCount(key, 5);
    await count.start();
    await stage().caughtUp(theirs);
    expect(await of(theirs).add(2)).toMatchObject({ preValue: 5, postValue: 7 });
    await eventually('it is known', () => count.count === 7);
    expect(await count.trySetCount(9)).toBe(true);
    await stage().caughtUp(theirs);
    expect(await of(theirs).increment()).toMatchObject({ preValue: 9, postValue: 10 });
  });

  it('changes the permits of a semaphore that goes by it', async () => {
    const { mine, theirs, key } = stage();
    const semaphores = new ZooKeeperSemaphoreStage(stage);
    const permits = mine.locks.sharedCount(`${key}-permits`, 1);
    await permits.start();
    await using first = await semaphores.of(mine, permits).acquire();
    const { lease: waiting } = await semaphores.queue(mine, permits);
    await stage().caughtUp(theirs);
    const operator = theirs.locks.atomicInteger(`${key}-permits`);
    expect(await operator.increment()).toMatchObject({ succeeded: true, postValue: 2 });
    await using second = await waiting;
    expect([first.isHeld, second.isHeld]).toEqual([true, true]);
    expect(await semaphores.of(mine, permits).tryAcquire()).toBeUndefined();
  });
}

/** Tries three times, without a pause. */
const THREE_TRIES = new RetryNTimes(2, 0);

/** What a number does when others come in between: it tries again, then takes a lock, then gives up. */
function atomicPromotionSuite(stage: () => Stage): void {
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
