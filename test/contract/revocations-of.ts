import type { ZooKeeperLease } from '../../lib/zookeeper/locks/zookeeper-lease.js';

/** Makes the lease revocable; the list grows by the lease at each call of its listener. */
export function revocationsOf(lease: ZooKeeperLease): ZooKeeperLease[] {
  const told: ZooKeeperLease[] = [];
  lease.makeRevocable((revoked) => told.push(revoked));
  return told;
}
