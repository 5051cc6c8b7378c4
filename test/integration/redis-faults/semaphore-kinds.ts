import type { RedisPermitExpirableSemaphore } from '../../../lib/redis/semaphores/redis-permit-expirable-semaphore.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';

type Kind = readonly [
  name: string,
  of: (locks: RedisLockClient, key: string, permits?: number) => RedisPermitExpirableSemaphore,
];

/** The semaphores that have leases for their permits, of which there are 3 by default. */
export const SEMAPHORES: readonly Kind[] = [
  ['semaphore', (locks, key, permits = 3) => locks.semaphore(key, { permits })],
  ['fair semaphore', (locks, key, permits = 3) => locks.semaphore(key, { permits, fair: true })],
];
