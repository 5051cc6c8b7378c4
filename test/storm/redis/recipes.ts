import type { Lease } from '../../../lib/core/lease.js';
import type { RedisPermitOptions } from '../../../lib/redis/semaphores/redis-permit-expirable-semaphore.js';
import type { RedisLease } from '../../../lib/redis/locks/redis-lease.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';

/** Number of permits of the semaphores. */
export const PERMITS = 5;

/** Locks or permits to be acquired for a while. */
export interface StormLock {
  /** Acquires it; `tryAcquire` does so without waiting. */
  acquire(options: RedisPermitOptions): Promise<Lease>;
  tryAcquire(options: RedisPermitOptions): Promise<Lease | undefined>;
}

/** A kind of lock in the storm. */
export interface Recipe {
  readonly name: string;
  /** The keys that it acquires. */
  readonly keys: readonly string[];
  readonly kind: 'alone' | 'permits';
  /** Share of the visitors that acquire it shared. */
  readonly readers?: number;
  readonly isFenced?: boolean;
  /** Whether its leases can have a fixed length, and be extended. */
  readonly hasLeases: boolean;
  of(locks: RedisLockClient, isShared: boolean): StormLock;
}

const room = (key: string, preferWriters: boolean) => ({
  keys: [key],
  kind: 'alone' as const,
  hasLeases: true,
  readers: 0.6,
  of(locks: RedisLockClient, isShared: boolean) {
    const lock = locks.readWriteLock(key, { preferWriters });
    return isShared ? lock.readLock() : lock.writeLock();
  },
});

const mutex = (key: string, options: { fair?: boolean; fenced?: boolean } = {}) => ({
  keys: [key],
  kind: 'alone' as const,
  hasLeases: true,
  isFenced: options.fenced,
  of: (locks: RedisLockClient) => locks.mutex(key, options),
});

const permits = (key: string, fair: boolean) => ({
  keys: [key],
  kind: 'permits' as const,
  hasLeases: true,
  of: (locks: RedisLockClient) => locks.semaphore(key, { permits: PERMITS, fair }),
});

const PAIR = ['{pair}:a', '{pair}:b'] as const;

/** All recipes that lock something. Visitors of a part of the multi-lock are excluded by visitors of the whole. */
export const RECIPES: readonly Recipe[] = [
  { name: 'mutex', ...mutex('mutex') },
  { name: 'fenced', ...mutex('fenced', { fenced: true }) },
  { name: 'fair', ...mutex('fair', { fair: true, fenced: true }) },
  {
    name: 'spin',
    keys: ['spin'],
    kind: 'alone',
    hasLeases: true,
    of: (locks) => locks.spinLock('spin'),
  },
  { name: 'read/write', ...room('room', false) },
  { name: 'writers first', ...room('preferring', true) },
  { name: 'permits', ...permits('permits', false) },
  { name: 'fair permits', ...permits('fair-permits', true) },
  {
    name: 'multi',
    keys: PAIR,
    kind: 'alone',
    hasLeases: false,
    of: (locks) => locks.multiLock(PAIR.map((key) => locks.mutex(key))),
  },
  { name: 'part of multi', ...mutex(PAIR[0]) },
];

/** The leases of the single locks in any lease. */
export function partsOf(lease: Lease): readonly RedisLease[] {
  return 'leases' in lease ? (lease.leases as RedisLease[]) : [lease as RedisLease];
}
