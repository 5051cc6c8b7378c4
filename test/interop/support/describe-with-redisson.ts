import { afterAll, beforeAll, beforeEach, describe } from '@jest/globals';
import { REDIS_DEPLOYMENTS } from './redis-deployment.js';
import { RedisStage, type StartPeer } from './redis-stage.js';
import { redissonClassPath } from './redisson-build.js';
import { startRedisNodePeer } from './start-redis-node-peer.js';
import { startRedissonPeer } from './start-redisson-peer.js';

/** The peer of Redisson. */
export interface Guest {
  readonly title: string;
  readonly start: StartPeer;
}

const NODE: Guest = { title: 'Node', start: (urls) => startRedisNodePeer(urls) };

/**
 * Describes what `name` does together with Java, once on one server and once on a cluster. Where the Java peer was not built,
 * its tests are skipped, which `npm run test:interop` has reported.
 *
 * @param guest the first process of the stage; the other one is Java. Default: Node, with this library
 */
export function describeWithRedisson(
  name: string,
  define: (stage: RedisStage) => void,
  guest: Guest = NODE,
): void {
  const isBuilt = redissonClassPath() !== undefined;
  for (const kind of REDIS_DEPLOYMENTS) {
    (isBuilt ? describe : describe.skip)(`${name} shared with Redisson, ${kind}`, () => {
      const stage = new RedisStage(kind, [guest.title, 'Java']);
      beforeAll(() => stage.start(guest.start, (urls) => startRedissonPeer(urls)), 60_000);
      afterAll(() => stage.stop());
      beforeEach(() => stage.reset());
      define(stage);
    });
  }
}
