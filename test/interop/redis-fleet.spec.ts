import { describe, expect, it } from '@jest/globals';
import { useShared } from '../support/fixtures.js';
import { byTier } from '../support/tier.js';
import { Fleet, frozenProcesses, noAccident, untilServed } from './fleet/fleet.js';
import { RedisGround } from './fleet/grounds.js';
import { type Recipe, REDIS_RECIPES } from './fleet/recipes.js';
import { redissonClassPath } from './support/builds.js';
import { REDIS_DEPLOYMENTS, startRedisDeployment } from './support/redis-deployment.js';

/** Number of processes of each language. */
const SIZE = byTier({ quick: 2, standard: 2, long: 4 });
const WATCHDOG_TIMEOUT = byTier({ quick: 5_000, standard: 5_000, long: 10_000 });

/** Where some starve, it cannot wait for them. */
const undisturbed = ({ starves }: Recipe) =>
  byTier({
    quick: starves ? noAccident(1_000) : untilServed(6),
    standard: starves ? noAccident(1_000) : untilServed(6),
    long: noAccident(20_000),
  });

// `npm run test:fleet` lasts longer.
(redissonClassPath() ? describe : describe.skip).each(REDIS_DEPLOYMENTS)(
  'A fleet of Node and Java processes on Redis, %s,',
  (kind) => {
    const deployment = useShared(() => startRedisDeployment(kind));
    const fleet = useShared(() =>
      Fleet.start(new RedisGround(deployment(), WATCHDOG_TIMEOUT), SIZE),
    );

    it.each([
      ...REDIS_RECIPES.map((recipe) => ({ recipe, accident: undisturbed(recipe) })),
      { recipe: REDIS_RECIPES[0]!, accident: frozenProcesses('node1') },
    ])(
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
  },
);
