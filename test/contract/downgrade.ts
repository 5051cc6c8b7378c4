import type { ZooKeeperLease } from '../../lib/zookeeper/recipes/zookeeper-lease.js';
import type { Client } from './client.js';

/** Has the client take the write lock, and the read lock inside of it. */
export async function downgrade(
  { locks }: Client,
  key: string,
): Promise<{ writer: ZooKeeperLease; reader: ZooKeeperLease }> {
  const lock = locks.readWriteLock(key);
  const writer = await lock.writeLock().acquire();
  const reader = await writer.run(() => lock.readLock().acquire());
  return { writer, reader };
}
