import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ZooKeeperEnsemble } from '../support/zookeeper-ensemble.js';
import { runDoubleBarrier } from './fleet/run-double-barrier.js';
import { runCounters } from './fleet/run-counters.js';
import { ElectionFleet } from './fleet/election-fleet.js';
import { curatorClassPath } from './support/curator-build.js';

const isBuilt = curatorClassPath('5.9.0') !== undefined;

// Short runs; `npm run test:fleet` lasts longer, and checks how long the election takes.
(isBuilt ? describe : describe.skip)('Three Node and three Java processes', () => {
  let ensemble: ZooKeeperEnsemble;

  beforeAll(async () => {
    ensemble = await ZooKeeperEnsemble.start();
  }, 120_000);
  afterAll(async () => {
    await ensemble?.stop();
  }, 30_000);

  it('never have two leaders by the token when leaders are killed and frozen, and always elect a new one', async () => {
    const options = { sessionTimeout: 4_000, strikes: 4 };
    const report = await ElectionFleet.run(ensemble, options);
    expect(report).toMatchObject({ kills: 2, freezes: 2, faults: [], isWhole: true });
    expect(report.vacancies).toHaveLength(4);
    expect(report.leftBehind).toEqual([]);
  }, 180_000);

  it('add up to the exact sums in eight counters', async () => {
    const { sums } = await runCounters(ensemble, 50);
    expect(sums).toEqual(Array.from({ length: 8 }, () => ['100', '100']));
  }, 180_000);

  it('enter and leave a double barrier together', async () => {
    await runDoubleBarrier(ensemble, 3);
  }, 180_000);
});
