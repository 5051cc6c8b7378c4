import { independentRedis } from './independent-redis.js';
import { redLockElectionGround } from './leader-election-ground.js';
import { leaderElectionSuite } from './leader-election.suite.js';

leaderElectionSuite('three independent Redis servers', async () =>
  redLockElectionGround(await independentRedis(3)),
);
