import { sentinelRedis } from './sentinel-redis.js';
import { leaderElectionLayoutSuite } from './leader-election-layout.suite.js';
import { redisElectionGround } from './leader-election-ground.js';
import { leaderElectionSuite } from './leader-election.suite.js';

const makeGround = async () => redisElectionGround(await sentinelRedis());
leaderElectionSuite('a Redis master behind sentinels', makeGround, leaderElectionLayoutSuite);
