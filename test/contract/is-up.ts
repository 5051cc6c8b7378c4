import type { Cluster, Redis } from 'ioredis';

/** Has it a connection? */
export function isUp(redis: Redis | Cluster): boolean {
  const nodes = 'nodes' in redis ? redis.nodes() : [redis];
  return redis.status === 'ready' && nodes.some(({ status }) => status === 'ready');
}
