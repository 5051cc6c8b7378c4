import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Fleet } from './fleet/fleet.js';
import { frozenProcesses } from './fleet/frozen-processes.js';
import { noAccident } from './fleet/no-accident.js';
import { RedisGround } from './fleet/redis-ground.js';
import { REDIS_RECIPES } from './fleet/redis-recipes.js';
import { REDIS_DEPLOYMENTS, type RedisDeployment } from './support/redis-deployment.js';
import { redissonClassPath } from './support/redisson-build.js';
import { startRedisDeployment } from './support/start-redis-deployment.js';

const isBuilt = redissonClassPath() !== undefined;

// A short run; `npm run test:fleet` lasts longer.
describe.each(REDIS_DEPLOYMENTS)('A fleet of Node and Java processes on Redis, %s', (kind) => {
  let deployment: RedisDeployment;
  let fleet: Fleet<RedisGround>;

  beforeAll(async () => {
    if (!isBuilt) return;
    deployment = await startRedisDeployment(kind);
    fleet = await Fleet.start(new RedisGround(deployment));
  }, 120_000);
  afterAll(async () => {
    await fleet?.stop();
    await deployment?.stop();
  }, 30_000);

  const runs = [
    ...REDIS_RECIPES.map((recipe) => ({ recipe, accident: noAccident(3_000) })),
    { recipe: REDIS_RECIPES[0]!, accident: frozenProcesses('node1') },
  ];

  (isBuilt ? it : it.skip).each(runs)(
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
