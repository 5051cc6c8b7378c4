import { describe, expect, it } from '@jest/globals';
import { useCleanup, useShared, useZooKeeperEnsemble } from '../support/fixtures.js';
import { byTier } from '../support/tier.js';
import { RedisGround, ZooKeeperGround } from './fleet/grounds.js';
import { HAND_OFF_PLAN, HandOffFleet } from './fleet/hand-off-fleet.js';
import { REDIS_RECIPES, ZOOKEEPER_RECIPES } from './fleet/recipes.js';
import { curatorClassPath, redissonClassPath } from './support/builds.js';
import { startRedisDeployment } from './support/redis-deployment.js';

// `npm run test:fleet` lasts longer.
const plan = {
  ...HAND_OFF_PLAN,
  duration: byTier({ quick: 2_000, standard: 5_000, long: 20_000 }),
};

(curatorClassPath('5.9.0') ? describe : describe.skip)('A mutex that Node hands on', () => {
  const ensemble = useZooKeeperEnsemble();
  const cleanup = useCleanup();

  it('is shared with Curator: no overlap, each turn within its bounds, and so each wait of Java', async () => {
    const ground = cleanup(await ZooKeeperGround.open(ensemble()), (it) => it.close());
    const report = await HandOffFleet.run(ground, ZOOKEEPER_RECIPES[0]!, plan);
    expect(report.faults).toEqual([]);
    expect(report.after).toBe(report.before);
  }, 180_000);
});

(redissonClassPath() ? describe : describe.skip)('A lock that Node hands on', () => {
  const deployment = useShared(() => startRedisDeployment('standalone'));

  it('is shared with Redisson: no overlap, each turn within its bounds, and Java is served in the end', async () => {
    const ground = new RedisGround(deployment());
    const report = await HandOffFleet.run(ground, REDIS_RECIPES[0]!, plan);
    expect(report.faults).toEqual([]);
    expect(report.after).toBe(report.before);
  }, 180_000);
});
