import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ZooKeeperEnsemble } from '../support/zookeeper-ensemble.js';
import { Fleet } from './fleet/fleet.js';
import { frozenProcesses } from './fleet/frozen-processes.js';
import { killedServers } from './fleet/killed-servers.js';
import { noAccident } from './fleet/no-accident.js';
import { ZooKeeperGround } from './fleet/zookeeper-ground.js';
import { ZOOKEEPER_RECIPES } from './fleet/zookeeper-recipes.js';
import { curatorClassPath } from './support/curator-build.js';

const isBuilt = curatorClassPath('5.9.0') !== undefined;

// A short run; `npm run test:fleet` lasts longer.
(isBuilt ? describe : describe.skip)('A fleet of Node and Java processes', () => {
  let ensemble: ZooKeeperEnsemble;
  let fleet: Fleet<ZooKeeperGround>;

  beforeAll(async () => {
    ensemble = await ZooKeeperEnsemble.start();
    fleet = await Fleet.start(await ZooKeeperGround.open(ensemble));
  }, 120_000);
  afterAll(async () => {
    await fleet?.stop();
    await ensemble?.stop();
  }, 30_000);

  const accidents = [noAccident(3_000), killedServers(1, 3_000), frozenProcesses('node1')];
  const runs = accidents.flatMap((accident) =>
    ZOOKEEPER_RECIPES.map((recipe) => ({ recipe, accident })),
  );

  it.each(runs)(
    'shares one $recipe.name with $accident.name: no overlap, all workers served, nothing left',
    async ({ recipe, accident }) => {
      const { faults, grants, before, after } = await fleet.run(recipe, accident);
      expect(faults).toEqual([]);
      expect(Object.values(grants)).toHaveLength(8);
      expect(Math.min(...Object.values(grants))).toBeGreaterThan(0);
      expect(after).toBe(before);
    },
    120_000,
  );
});
