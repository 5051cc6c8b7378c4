import type { RedisLock } from '../../../lib/redis/locks/redis-lock.js';
import type {
  RedisReadLock,
  RedisWriteLock,
} from '../../../lib/redis/locks/redis-read-write-lock.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';

/** A lock of any kind. */
export type AnyRedisLock = RedisLock | RedisReadLock | RedisWriteLock;

type Kind = readonly [name: string, of: (locks: RedisLockClient, key: string) => AnyRedisLock];

/** The locks that have scripts of their own and keep all others out. */
export const EXCLUSIVE_LOCKS: readonly Kind[] = [
  ['mutex', (locks, key) => locks.mutex(key)],
  ['fair mutex', (locks, key) => locks.mutex(key, { fair: true })],
  ['fenced mutex', (locks, key) => locks.mutex(key, { fenced: true })],
  ['write lock', (locks, key) => locks.readWriteLock(key).writeLock()],
];

/** All locks that have scripts of their own. */
export const ALL_LOCKS: readonly Kind[] = [
  ...EXCLUSIVE_LOCKS,
  ['read lock', (locks, key) => locks.readWriteLock(key).readLock()],
];
