import { locksSuite } from './deployments.suite.js';
import { onRedis } from './support/redis-stage.js';

locksSuite(onRedis('standalone'));
