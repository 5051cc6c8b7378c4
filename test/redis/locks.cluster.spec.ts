import { locksSuite, permitsSuite } from './deployments.suite.js';
import { onRedis } from './support/redis-stage.js';

const cluster = onRedis('cluster');
locksSuite(cluster);
permitsSuite(cluster);
