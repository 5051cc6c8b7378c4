import { clusterRedis } from './cluster-redis.js';
import { leaderElectionLayoutSuite } from './leader-election-layout.suite.js';
import { redisElectionGround } from './leader-election-ground.js';
import { leaderElectionSuite } from './leader-election.suite.js';

const makeGround = async () => redisElectionGround(await clusterRedis());
leaderElectionSuite('a Redis cluster', makeGround, leaderElectionLayoutSuite);
