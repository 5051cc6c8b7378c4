import type { PermitOptions } from '../../core/permit-options.js';
import type { RedisAcquireOptions } from './redis-acquire-options.js';

/** Options of an acquire on a semaphore on Redis. */
export interface RedisPermitOptions extends RedisAcquireOptions, PermitOptions {}
