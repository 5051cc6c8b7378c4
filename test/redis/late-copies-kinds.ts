import { randomUUID } from 'node:crypto';
import type { AcquireOptions } from '../../lib/core/lock.js';
import type { Lease } from '../../lib/core/lease.js';
import { MultiLease } from '../../lib/core/internal/multi-lease.js';
import { RedisLease } from '../../lib/redis/locks/redis-lease.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';

/** What everything with leases has in common. */
export interface Leased {
  acquire(options?: AcquireOptions & { readonly lease?: number }): Promise<Lease>;
  tryAcquire(options?: AcquireOptions): Promise<Lease | undefined>;
}

type Of = (client: RedisLockClient, key: string) => Leased;
type Kind = readonly [name: string, of: Of, rival: Of];

const kind = (name: string, of: Of, rival = of): Kind => [name, of, rival];

/** Each kind with one that it excludes. */
export const SINGLE_KINDS: readonly Kind[] = [
  kind('mutex', (client, key) => client.mutex(key)),
  kind('fenced mutex', (client, key) => client.mutex(key, { fenced: true })),
  kind('fair mutex', (client, key) => client.mutex(key, { fair: true })),
  kind('spin lock', (client, key) => client.spinLock(key)),
  kind(
    'read lock',
    (client, key) => client.readWriteLock(key).readLock(),
    (client, key) => client.readWriteLock(key).writeLock(),
  ),
  kind('write lock', (client, key) => client.readWriteLock(key).writeLock()),
  kind(
    'preferred write lock',
    (client, key) => client.readWriteLock(key, { preferWriters: true }).writeLock(),
    (client, key) => client.readWriteLock(key, { preferWriters: true }).readLock(),
  ),
  kind('semaphore', (client, key) => client.semaphore(key, { permits: 1 })),
  kind('fair semaphore', (client, key) => client.semaphore(key, { permits: 1, fair: true })),
];

/** The same, and several mutexes that are acquired with one script. */
export const KINDS: readonly Kind[] = [
  ...SINGLE_KINDS,
  kind(
    'multi-lock',
    (client, key) => client.multiLock([client.mutex(key), client.mutex(`${key} too`)]),
    (client, key) => client.mutex(key),
  ),
];

/** The leases on the server that a lease consists of. */
export function partsOf(lease: Lease): RedisLease[] {
  const parts = lease instanceof MultiLease ? lease.leases : [lease];
  return parts.filter((part) => part instanceof RedisLease);
}

export async function extend(lease: Lease, ms: number): Promise<void> {
  await Promise.all(partsOf(lease).map((part) => part.extend(ms)));
}

/** From here on the server knows the scripts of that kind by their digests: a copy that it rejects would prove nothing. */
export async function warm(of: Of, client: RedisLockClient): Promise<void> {
  const lease = await of(client, randomUUID()).acquire();
  await extend(lease, 60_000);
  await lease.release();
}
