import { expect, it } from '@jest/globals';
import { seededRandom } from '../../support/seeded-random.js';

const take = (seed: number, count: number) => Array.from({ length: count }, seededRandom(seed));

it('gives the same numbers for the same seed, and others for another', () => {
  expect(take(42, 100)).toEqual(take(42, 100));
  expect(take(42, 100)).not.toEqual(take(43, 100));
});

it('spreads them evenly over [0, 1)', () => {
  const tenths = new Array<number>(10).fill(0);
  for (const number of take(1, 10_000)) tenths[Math.floor(number * 10)]! += 1;
  for (const count of tenths) expect(Math.abs(count - 1_000)).toBeLessThan(150);
});
