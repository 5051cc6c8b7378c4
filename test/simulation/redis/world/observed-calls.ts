import type { RedisLease } from '../../../../lib/redis/locks/redis-lease.js';
import type { AskedLock, ObservedLock } from './observed-locks.js';
import type { RedisProcess } from './redis-process.js';

/** One call of `acquire` or `tryAcquire`, as its caller sees it. */
export interface Request {
  readonly id: number;
  readonly client: RedisProcess;
  readonly lock: AskedLock;
  readonly isTry: boolean;
  readonly wait: number | undefined;
  /** What the caller holds. */
  readonly inside: readonly ObservedHold[];
  readonly startedAt: number;
  abortedAt?: number;
}

/** A grant of one lock, as its caller sees it. */
export interface ObservedHold {
  /** That of its request. */
  readonly id: number;
  readonly client: RedisProcess;
  readonly lock: ObservedLock;
  readonly lease: RedisLease;
  readonly isRenewed: boolean;
  /** Id of the outermost hold of the same lock that it is inside of: these do not exclude each other. */
  readonly root: number;
  /** The longest lease that it may have, in ms. */
  longest: number;
  /** When an operator or a failover has taken it from the server: until it is lost, it excludes no other. */
  takenAt?: number | undefined;
}
