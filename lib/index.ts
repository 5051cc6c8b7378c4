export * from './core/index.js';
export * from './embedded/index.js';
export * from './redis/index.js';
export * from './zookeeper/index.js';

export type {
  AsyncMethodDecorator,
  LeadershipDecorator,
  StreamMethodDecorator,
} from './decorators/decorator-types.js';
export { getLockClientToken, InjectLockClient } from './decorators/inject-lock-client.decorator.js';
export * from './decorators/leader-only.decorator.js';
export type { KeyLockDecorator } from './decorators/lock-by-key.js';
export * from './decorators/lock-defaults.decorator.js';
export * from './decorators/lock-stream.decorator.js';
export { OnLeadership, OnLeadershipLost } from './decorators/on-leadership.decorator.js';
export * from './decorators/read-lock.decorator.js';
export * from './decorators/run-once.decorator.js';
export * from './decorators/semaphore.decorator.js';
export * from './decorators/with-multi-lock.decorator.js';
export * from './decorators/with-mutex.decorator.js';
export * from './decorators/write-lock.decorator.js';
export type { LockExceptionFilterOptions } from './filters/lock-error-answer.js';
export { LockExceptionFilter } from './filters/lock-exception.filter.js';
export { LockInterceptor } from './interceptors/lock.interceptor.js';
export * from './interfaces/index.js';
export { LeaderElection, type LeaderElectionState } from './elections/leader-election.js';
export { LeaderElections } from './elections/leader-elections.js';
export { LockClients } from './clients/lock-clients.js';
export {
  LEADER_ELECTIONS,
  LOCK_CLIENTS,
  LOCK_INTERCEPTOR,
  LOCK_PLANS,
  LOCK_TRACER,
} from './lock.constants.js';
export { LockModule } from './lock.module.js';
