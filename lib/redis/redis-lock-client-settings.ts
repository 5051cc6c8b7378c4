import type { Clock } from '../core/clock.js';
import type { LockEventEmitter } from '../core/internal/lock-event-emitter.js';
import type { RedisConnection } from './connection/redis-connection.js';
import type { RedisLockOptions } from './redis-lock-options.js';

/** What a client is made of. */
export interface RedisLockClientSettings {
  readonly name: string;
  readonly connection: RedisConnection;
  readonly events: LockEventEmitter;
  readonly clock: Clock;
  readonly options: RedisLockOptions;
}
