export * from './core/index.js';
export * from './embedded/index.js';
export * from './zookeeper/index.js';

export * from './decorators/async-method-decorator.js';
export * from './decorators/get-lock-client-token.js';
export * from './decorators/inject-lock-client.decorator.js';
export * from './decorators/lock-stream.decorator.js';
export * from './decorators/read-lock.decorator.js';
export * from './decorators/semaphore.decorator.js';
export * from './decorators/stream-method-decorator.js';
export * from './decorators/with-multi-lock.decorator.js';
export * from './decorators/with-mutex.decorator.js';
export * from './decorators/write-lock.decorator.js';
export { LockInterceptor } from './interceptors/lock.interceptor.js';
export * from './interfaces/index.js';
export { LockClientRegistry } from './lock-client.registry.js';
export { LOCK_INTERCEPTOR, LOCK_PLANS } from './lock.constants.js';
export { LockModule } from './lock.module.js';
