import { permitsSuite } from './deployments.suite.js';
import { onRedis } from './support/redis-stage.js';

permitsSuite(onRedis('standalone'));
