import calculateSlot from 'cluster-key-slot';
import type { RedisCluster, RedisNode } from './ioredis.js';

/** The address of the master of a key or sharded channel, if the cluster knows it. */
export function addressOfSlot(cluster: RedisCluster, name: string): string | undefined {
  return cluster.slots[slotOf(name)]?.[0];
}

/** The master of a key or sharded channel, if the cluster knows it. */
export function masterOfSlot(cluster: RedisCluster, name: string): RedisNode | undefined {
  const owner = addressOfSlot(cluster, name);
  return cluster.nodes('master').find((node) => nodeAddress(node) === owner);
}

/** The Redis Cluster slot of a key or a sharded channel. */
export function slotOf(name: string): number {
  return calculateSlot(name);
}

/** The part of a name that determines its slot: the text between the first `{` and the next `}`, or all of it. */
export function hashTag(name: string): string {
  const open = name.indexOf('{');
  const close = open < 0 ? -1 : name.indexOf('}', open + 1);
  return close > open + 1 ? name.slice(open + 1, close) : name;
}

/** The address of a cluster node, in the format of `slots`. */
export function nodeAddress({ options }: RedisNode): string {
  const { host, port } = options as { host?: string; port?: number };
  return `${host}:${port}`;
}
