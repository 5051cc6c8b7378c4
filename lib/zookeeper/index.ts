export { Permission, type AclEntry } from './connection/acl.js';
export type { AuthInfo } from './connection/auth-info.js';
export * from './connection/retry/index.js';
export { ZooKeeperError } from './connection/zookeeper-error.js';
export type { InterProcessMutex } from './recipes/inter-process-mutex.js';
export type { ZooKeeperLockClient } from './zookeeper-lock-client.js';
export type { ZooKeeperLockOptions } from './zookeeper-lock-options.js';
