import { describe, expect, it } from '@jest/globals';
import { LockOptionsError } from '../../../lib/core/errors/index.js';
import {
  type BackOff,
  ConstantBackOff,
  ExponentialBackOff,
} from '../../../lib/redis/locks/back-off.js';
import { seededRandom } from '../../support/seeded-random.js';

const LEAST = () => 0;
const MOST = () => 1 - Number.EPSILON;
/** No number at all, or not one that a timer can take. */
const NUMBERS = [0, -1, 0.5, NaN, Infinity, 2 ** 31, '5', null, {}] as number[];

describe('An ExponentialBackOff', () => {
  it('grows up to its most, as in Redisson (Redisson: LockOptionsTest testExponentialBackoff)', () => {
    const options = { initialDelay: 10, maxDelay: 100, multiplier: 3 };
    expect(first(5, new ExponentialBackOff(options, LEAST))).toEqual([10, 30, 90, 100, 100]);
    const [one, two, three, ...rest] = first(5, new ExponentialBackOff(options, MOST));
    expect(one).toBe(10);
    expect([30, 31]).toContain(two);
    expect([90, 91, 92]).toContain(three);
    expect(rest).toEqual([100, 100]);
  });

  it('has the defaults of Redisson', () => {
    expect(first(9, new ExponentialBackOff({}, LEAST))).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 128]);
  });

  it('is not the same for all waiters', () => {
    const policy = new ExponentialBackOff({}, seededRandom(7));
    const sums = Array.from({ length: 20 }, () => sum(first(7, policy)));
    expect(new Set(sums).size).toBeGreaterThan(5);
  });

  it('begins anew for each acquire', () => {
    const policy = new ExponentialBackOff({}, LEAST);
    expect(first(3, policy)).toEqual(first(3, policy));
  });

  it('may stay as it begins', () => {
    const options = { initialDelay: 50, maxDelay: 50, multiplier: 1 };
    expect(first(4, new ExponentialBackOff(options, MOST))).toEqual([50, 50, 50, 50]);
  });

  it.each(NUMBERS)('refuses %p', (bad) => {
    for (const option of ['initialDelay', 'maxDelay', 'multiplier'])
      expect(refusal(() => new ExponentialBackOff({ [option]: bad }))).toMatchObject({ option });
  });

  it('refuses to begin with more than its most', () => {
    const refused = refusal(() => new ExponentialBackOff({ initialDelay: 200, maxDelay: 100 }));
    expect(refused).toMatchObject({ option: 'maxDelay', value: 100 });
  });
});

describe('A ConstantBackOff', () => {
  it('has the same delay again and again, but for chance (Redisson: LockOptionsTest testConstantBackoff)', () => {
    const policy = new ConstantBackOff(30, () => 0.5);
    expect(first(4, policy)).toEqual([30, 30, 30, 30]);
  });

  it('is 64 ms long, a quarter more or less', () => {
    expect(first(2, new ConstantBackOff(undefined, LEAST))).toEqual([48, 48]);
    const [most] = first(1, new ConstantBackOff(undefined, MOST));
    expect(most).toBeCloseTo(80);
  });

  it('is not the same for all waiters', () => {
    const policy = new ConstantBackOff(64, seededRandom(7));
    expect(new Set([...first(5, policy), ...first(5, policy)]).size).toBe(10);
  });

  it.each(NUMBERS)('refuses %p', (bad) => {
    const option = 'delay';
    expect(refusal(() => new ConstantBackOff(bad))).toMatchObject({ option, value: bad });
  });
});

function first(count: number, policy: BackOff): number[] {
  const next = policy.delays();
  return Array.from({ length: count }, () => next());
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function refusal(refusing: () => unknown): unknown {
  try {
    return refusing();
  } catch (error) {
    expect(error).toBeInstanceOf(LockOptionsError);
    return error;
  }
}
