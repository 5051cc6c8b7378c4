import { describe } from '@jest/globals';
import { onRedis } from './on-redis.js';
import { renewalSuite } from './renewal.suite.js';

describe('The renewal of leases on Redis, standalone', () => renewalSuite(onRedis('standalone')));
