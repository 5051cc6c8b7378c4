import { describe, expect, it } from '@jest/globals';
import { useShared, useZooKeeperEnsemble } from '../support/fixtures.js';
import { byTier } from '../support/tier.js';
import { Fleet, frozenProcesses, killedServers, noAccident, untilServed } from './fleet/fleet.js';
import { ZooKeeperGround } from './fleet/grounds.js';
import { ZOOKEEPER_RECIPES } from './fleet/recipes.js';
import { curatorClassPath } from './support/builds.js';

const isBuilt = curatorClassPath('5.9.0') !== undefined;

/** Number of processes of each language. */
const SIZE = byTier({ quick: 2, standard: 2, long: 4 });
const SESSION_TIMEOUT = byTier({ quick: 6_000, standard: 6_000, long: 10_000 });

(isBuilt ? describe : describe.skip)('A fleet of Node and Java processes on ZooKeeper', () => {
  const ensemble = useZooKeeperEnsemble();
  const fleet = useShared(async () =>
    Fleet.start(await ZooKeeperGround.open(ensemble(), SESSION_TIMEOUT), SIZE),
  );

  const accidents = [
    byTier({ quick: untilServed(20), standard: untilServed(20), long: noAccident(20_000) }),
    killedServers(byTier({ quick: 1, standard: 1, long: 4 }), 3_000),
    frozenProcesses('node1'),
  ];
  const runs = accidents.flatMap((accident) =>
    ZOOKEEPER_RECIPES.map((recipe) => ({ recipe, accident })),
  );

  it.each(runs)(
    'shares one $recipe.name with $accident.name: no overlap, all workers served, nothing left',
    async ({ recipe, accident }) => {
      const { faults, grants, before, after } = await fleet().run(recipe, accident);
      expect(faults).toEqual([]);
      expect(Object.values(grants)).toHaveLength(2 * SIZE);
      expect(Math.min(...Object.values(grants))).toBeGreaterThan(0);
      expect(after).toBe(before);
    },
    120_000,
  );
});
