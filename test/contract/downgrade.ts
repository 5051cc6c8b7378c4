import type { Lease } from '../../lib/core/lease.js';

/** What has both halves of a lock, on which leases of that kind are granted. */
interface Halves<L extends Lease> {
  readLock(): { acquire(): Promise<L> };
  writeLock(): { acquire(): Promise<L> };
}

/** Has the client take the write lock, and the read lock inside of it. */
export async function downgrade<L extends Lease>(
  { locks }: { readonly locks: { readWriteLock(key: string): Halves<L> } },
  key: string,
): Promise<{ writer: L; reader: L }> {
  const lock = locks.readWriteLock(key);
  const writer = await lock.writeLock().acquire();
  const reader = await writer.run(() => lock.readLock().acquire());
  return { writer, reader };
}
