import type { RedisServer } from '../../support/redis-server.js';

/** The ways in which Redis is deployed here. */
export const REDIS_DEPLOYMENTS = ['standalone', 'cluster'] as const;

export type RedisDeploymentKind = (typeof REDIS_DEPLOYMENTS)[number];

/** The Redis that peers share. */
export interface RedisDeployment {
  readonly kind: RedisDeploymentKind;
  /** URL of the one server, or of several nodes of the cluster. */
  readonly urls: readonly string[];
  /** The servers that own keys. */
  masters(): Promise<readonly RedisServer[]>;
  /** The server that owns that key, and the sharded channels of its slot. */
  masterOf(key: string): Promise<RedisServer>;
  stop(): Promise<void>;
}
