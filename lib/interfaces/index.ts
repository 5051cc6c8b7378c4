export type { LeaderElectionOptions, LeaderOnlyOptions } from './leader-options.interface.js';
export type {
  LeaderTarget,
  LockPlan,
  LockTracer,
  MultiLockTarget,
  RunOnceTarget,
} from './lock-plan.interface.js';
export type {
  BusyHandler,
  LockDefaultsOptions,
  LockMethodOptions,
  LockStreamOptions,
  OnBusy,
  OnLost,
  RunOnceOptions,
  SemaphoreMethodOptions,
} from './lock-method-options.interface.js';
export type {
  LockKey,
  LockKeys,
  LockMember,
  LockTarget,
  RecipeOptions,
} from './lock-key.interface.js';
export type {
  EmbeddedBackendOptions,
  LockBackendOptions,
  LockModuleAsyncOptions,
  LockModuleOptions,
  LockOptionsFactory,
  RedisBackendOptions,
  ZooKeeperBackendOptions,
} from './lock-module-options.interface.js';
