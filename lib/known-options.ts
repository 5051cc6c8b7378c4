import type {
  EmbeddedBackendOptions,
  RedisBackendOptions,
  ZooKeeperBackendOptions,
} from './interfaces/lock-module-options.interface.js';

const COMMON = { name: true, backend: true, logOperations: true, shutdownTimeout: true } as const;

const EMBEDDED: Record<keyof EmbeddedBackendOptions | 'name', true> = {
  ...COMMON,
  basePath: true,
  literalPaths: true,
  wait: true,
};

const ZOOKEEPER: Record<keyof ZooKeeperBackendOptions | 'name', true> = {
  ...COMMON,
  acl: true,
  auth: true,
  basePath: true,
  connect: true,
  connectTimeout: true,
  errorPolicy: true,
  literalPaths: true,
  retryPolicy: true,
  sessionTimeout: true,
  tickTime: true,
  wait: true,
};

const REDIS: Record<keyof RedisBackendOptions | 'name', true> = {
  ...COMMON,
  client: true,
  cluster: true,
  connect: true,
  connectTimeout: true,
  fairLockWaitTimeout: true,
  nodes: true,
  nodeTimeout: true,
  prefix: true,
  replicas: true,
  shardedSubscriptionMode: true,
  wait: true,
  watchdogTimeout: true,
};

/** Names of the options that each backend has: one that is spelt wrong is to be told, not to do nothing. */
export const KNOWN_OPTIONS = {
  embedded: Object.keys(EMBEDDED),
  zookeeper: Object.keys(ZOOKEEPER),
  redis: Object.keys(REDIS),
};
