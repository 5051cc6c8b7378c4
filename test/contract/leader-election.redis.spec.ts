import { standaloneRedis } from './standalone-redis.js';
import { leaderElectionLayoutSuite } from './leader-election-layout.suite.js';
import { redisElectionGround } from './leader-election-ground.js';
import { leaderElectionSuite } from './leader-election.suite.js';

const makeGround = async () => redisElectionGround(await standaloneRedis());
leaderElectionSuite('a Redis server', makeGround, leaderElectionLayoutSuite);
