import { describe, expect, it } from '@jest/globals';
import { useShared, useZooKeeperEnsemble } from '../support/fixtures.js';
import { byTier } from '../support/tier.js';
import { runCounters, runDoubleBarrier } from './fleet/coordination.js';
import { ElectionFleet } from './fleet/election-fleet.js';
import { Fleet } from './fleet/fleet.js';
import { ZooKeeperGround } from './fleet/grounds.js';
import { curatorClassPath } from './support/builds.js';

const isBuilt = curatorClassPath('5.9.0') !== undefined;

/** Number of processes of each language. */
const SIZE = byTier({ quick: 2, standard: 2, long: 4 });
const SESSION_TIMEOUT = byTier({ quick: 6_000, standard: 6_000, long: 10_000 });
const STRIKES = byTier({ quick: 4, standard: 4, long: 8 });
const COUNTS = byTier({ quick: 50, standard: 50, long: 500 });
const ROUNDS = byTier({ quick: 4, standard: 4, long: 20 });

// `npm run test:fleet` lasts longer, and checks how long an election takes.
(isBuilt ? describe : describe.skip)('Node and Java processes on ZooKeeper', () => {
  const ensemble = useZooKeeperEnsemble();
  const fleet = useShared(async () =>
    Fleet.start(await ZooKeeperGround.open(ensemble(), SESSION_TIMEOUT), SIZE),
  );

  it('adds up to the exact sums in eight counters', async () => {
    const { sums } = await runCounters(fleet().all, COUNTS);
    expect(sums).toEqual(Array.from({ length: 8 }, () => [`${2 * COUNTS}`, `${2 * COUNTS}`]));
  }, 180_000);

  it('enters and leaves a double barrier together', async () => {
    await runDoubleBarrier(ensemble(), fleet().all, ROUNDS);
  }, 180_000);

  it('never has two leaders by the token when leaders are killed and frozen, and always elects a new one', async () => {
    const options = { size: SIZE, sessionTimeout: 4_000, strikes: STRIKES };
    const report = await ElectionFleet.run(ensemble(), options);
    const [kills, freezes] = [STRIKES / 2, STRIKES / 2];
    expect(report).toMatchObject({ kills, freezes, faults: [], dissent: [] });
    expect(report.vacancies).toHaveLength(STRIKES);
    expect(report.leftBehind).toEqual([]);
  }, 180_000);
});
