import { describe } from '@jest/globals';
import type { RedisDeploymentKind } from '../interop/support/redis-deployment.js';
import { countDownLatchCountSuite } from './count-down-latch-count.suite.js';
import { countDownLatchLayoutSuite } from './count-down-latch-layout.suite.js';
import { countDownLatchWaitingSuite } from './count-down-latch-waiting.suite.js';
import { onRedis } from './on-redis.js';

/** Everything that the latch promises. Contains the cases of RedissonCountDownLatchTest, each marked with its name. */
export function countDownLatchSuite(kind: RedisDeploymentKind): void {
  describe(`A count-down latch on Redis, ${kind}`, () => {
    const stage = onRedis(kind);

    describe('counting', () => countDownLatchCountSuite(stage));
    describe('waiting', () => countDownLatchWaitingSuite(stage));
    describe('the layout', () => countDownLatchLayoutSuite(stage));
  });
}
