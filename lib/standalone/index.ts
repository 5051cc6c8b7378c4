export * from '../core/index.js';
export * from '../embedded/index.js';
export * from '../redis/index.js';
export * from '../zookeeper/index.js';
export type {
  BackendOptions,
  EmbeddedClientOptions,
  RedisClientOptions,
  ZooKeeperClientOptions,
} from '../interfaces/lock-client-options.interface.js';
export type { LockKey, RecipeOptions } from '../interfaces/lock-key.interface.js';
export type {
  BusyHandler,
  LockMethodOptions,
  OnBusy,
  OnLost,
} from '../interfaces/lock-method-options.interface.js';
export { createLockClient, type LockClientOptions } from './create-lock-client.js';
export { withLock, type WithLockOptions } from './with-lock.js';
