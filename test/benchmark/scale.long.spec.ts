import { describe, expect, it } from '@jest/globals';
import { useShared } from '../support/fixtures.js';
import { scaleBackends } from './growth/backends.js';
import { exponentOf, growthOf, LIMIT } from './growth/cost.js';
import { isOn, scenarios, sizesOf } from './growth/scenarios.js';

/**
 * Rows that grow too fast, as `it.failing` demands. On ZooKeeper, only a listing shows a client the nodes of others, and each has to
 * look at its entry and at its turn; its requests grow in a straight line.
 */
const TOO_FAST: readonly string[] = ['clients that wait for one key on zookeeper'];

/** Only counts are compared, so neither the machine nor its load makes a difference. */
describe.each(Object.entries(scaleBackends))('Ten times as many on %s', (name, start) => {
  const backend = useShared(start);

  for (const scenario of scenarios) {
    if (!isOn(scenario, name as keyof typeof scaleBackends)) continue;
    const test = TOO_FAST.includes(`${scenario.title} on ${name}`) ? it.failing : it;
    test(`cost about ten times as much: ${scenario.title}`, async () => {
      const { exponent } = await growthOf(scenario, backend(), sizesOf(scenario, true));
      expect(exponent).toBeLessThan(LIMIT);
    }, 120_000);
  }
});

describe('The exponent of a cost', () => {
  const cost = (n: number, requests: number) => ({ n, requests, work: 0, cpuMs: 0 });

  it.each([
    [1, (n: number) => 7 * n],
    [2, (n: number) => n * n],
    [0, () => 3],
  ])('is %d', (exponent, of) => {
    const costs = [10, 100, 1_000].map((n) => cost(n, of(n)));
    expect(exponentOf(costs, 'requests')).toBeCloseTo(exponent);
  });
});
