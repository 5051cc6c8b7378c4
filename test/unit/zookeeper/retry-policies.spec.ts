import { describe, expect, it } from '@jest/globals';
import { LockOptionsError } from '../../../lib/core/errors/index.js';
import {
  BoundedExponentialBackoffRetry,
  ExponentialBackoffRetry,
  RetryForever,
  RetryNTimes,
  RetryUntilElapsed,
  type RetryPolicy,
} from '../../../lib/zookeeper/connection/retry-policies.js';

const LOWEST = () => 0;
const HIGHEST = () => 1 - Number.EPSILON;

/** The delays of that many retries, one after the other. */
const delays = (policy: RetryPolicy, retries: number) =>
  Array.from({ length: retries }, (_, n) => policy.nextDelay(n, 0));

describe('ExponentialBackoffRetry', () => {
  it('sleeps the base times a random number below 2^(n+1), but at least the base', () => {
    const least = new ExponentialBackoffRetry(100, 4, undefined, LOWEST);
    expect(delays(least, 5)).toEqual([100, 100, 100, 100, undefined]);
    const most = new ExponentialBackoffRetry(100, 4, undefined, HIGHEST);
    expect(delays(most, 5)).toEqual([100, 300, 700, 1_500, undefined]);
  });

  it('sleeps no longer than its bound', () => {
    const policy = new ExponentialBackoffRetry(100, 4, 500, HIGHEST);
    expect(delays(policy, 4)).toEqual([100, 300, 500, 500]);
  });

  it('retries 29 times at most, without leaving the integers', () => {
    const policy = new ExponentialBackoffRetry(1_000, 1_000, undefined, HIGHEST);
    expect(policy.nextDelay(28)).toBe(1_000 * (2 ** 29 - 1));
    expect(policy.nextDelay(29)).toBeUndefined();
  });

  it('spreads the sleeps of many clients', () => {
    const policy = new ExponentialBackoffRetry(10, 29);
    const drawn = new Set(Array.from({ length: 100 }, () => policy.nextDelay(20)));
    expect(drawn.size).toBeGreaterThan(50);
  });
});

describe('BoundedExponentialBackoffRetry', () => {
  it('takes its arguments in the order of Curator', () => {
    const policy = new BoundedExponentialBackoffRetry(100, 500, 4, HIGHEST);
    expect(delays(policy, 5)).toEqual([100, 300, 500, 500, undefined]);
  });
});

describe('RetryNTimes', () => {
  it('sleeps the same each time, then gives up', () => {
    expect(delays(new RetryNTimes(2, 70), 3)).toEqual([70, 70, undefined]);
    expect(delays(new RetryNTimes(0, 70), 1)).toEqual([undefined]);
  });
});

describe('RetryUntilElapsed', () => {
  it('looks at the time before the sleep, so that the last try may come after it', () => {
    const policy = new RetryUntilElapsed(1_000, 300);
    expect(policy.nextDelay(0, 0)).toBe(300);
    expect(policy.nextDelay(50, 999)).toBe(300);
    expect(policy.nextDelay(0, 1_000)).toBeUndefined();
  });
});

describe('RetryForever', () => {
  it('never gives up', () => {
    expect(new RetryForever(50).nextDelay()).toBe(50);
  });
});

it.each<[string, () => RetryPolicy]>([
  ['baseSleepMs', () => new ExponentialBackoffRetry(-1, 3)],
  ['baseSleepMs', () => new ExponentialBackoffRetry(NaN, 3)],
  ['maxRetries', () => new ExponentialBackoffRetry(10, -1)],
  ['maxSleepMs', () => new ExponentialBackoffRetry(10, 3, Infinity)],
  ['maxSleepMs', () => new BoundedExponentialBackoffRetry(10, -5, 3)],
  ['n', () => new RetryNTimes(NaN, 10)],
  ['sleepMs', () => new RetryNTimes(3, -10)],
  ['maxElapsedMs', () => new RetryUntilElapsed(-1, 10)],
  ['sleepMs', () => new RetryUntilElapsed(10, Infinity)],
  ['sleepMs', () => new RetryForever(0)],
])('a policy with a bad %s is refused: %s', (option, make) => {
  expect(make).toThrow(LockOptionsError);
  expect(make).toThrow(expect.objectContaining({ option, code: 'LOCK_OPTIONS' }));
});
