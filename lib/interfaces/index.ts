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
  CronOccurrence,
  LockDefaultsOptions,
  LockMethodOptions,
  LockStreamOptions,
  MutexMethodOptions,
  Occurrence,
  OnBusy,
  OnLost,
  RunOnceOptions,
  SemaphoreMethodOptions,
  StreamKind,
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
