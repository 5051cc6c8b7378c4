import { nodeAddress } from './node-address.js';
import type { RedisCluster, RedisNode } from './redis-client.js';
import { slotOf } from './slot-of.js';

/** The master of a key or sharded channel, as far as the cluster knows it. */
export function masterOfSlot(cluster: RedisCluster, name: string): RedisNode | undefined {
  const owner = cluster.slots[slotOf(name)]?.[0];
  return cluster.nodes('master').find((node) => nodeAddress(node) === owner);
}
