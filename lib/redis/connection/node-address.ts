import type { RedisNode } from './redis-client.js';

/** The address of a cluster's node, as its slots name it. */
export function nodeAddress({ options }: RedisNode): string {
  const { host, port } = options as { host?: string; port?: number };
  return `${host}:${port}`;
}
