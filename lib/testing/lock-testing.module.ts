import { type DynamicModule, Global, Logger, Module, type Provider } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { LockClient } from '../core/lock-client.js';
import type { LockModuleOptions } from '../interfaces/lock-module-options.interface.js';
import { LOCK_CLIENT_FACTORY } from '../lock.constants.js';
import { LockModule } from '../lock.module.js';
import { LockTesting } from './lock-testing.js';

const logger = new Logger('LockModule');

type CreateClient = (
  testing: LockTesting,
  name: string,
  options: LockModuleOptions,
) => LockClient | Promise<LockClient>;

/** What exists once per test, however many clients the app has. */
function providersOf(createClient: CreateClient): Provider[] {
  const useFactory = (testing: LockTesting, modules: ModulesContainer) => {
    // The hook with which virtual time begins to pass is among the first ones: others may wait for locks.
    for (const module of modules.values())
      if (module.providers.has(LockTesting)) module.distance = -1;
    return (name: string, options: LockModuleOptions) => {
      logger.warn(`Lock client "${name}" is one for tests: no other process is excluded.`);
      return createClient(testing, name, options);
    };
  };
  const inject = [LockTesting, ModulesContainer];
  return [LockTesting, { provide: LOCK_CLIENT_FACTORY, inject, useFactory }];
}

@Global()
@Module({
  providers: providersOf((testing, name, options) => testing.createClient(name, options)),
  exports: [LockTesting, LOCK_CLIENT_FACTORY],
})
class LockTestingCoreModule {}

@Global()
@Module({
  providers: providersOf((testing, name, options) =>
    options.backend === 'redis' && options.nodes === undefined
      ? testing.createRedisClient(name, options)
      : testing.createClient(name, options),
  ),
  exports: [LockTesting, LOCK_CLIENT_FACTORY],
})
class RedisLockTestingCoreModule {}

/**
 * Runs the locks of an app in virtual time, in this process, without a server: all clients that the app registers, of any
 * backend. Import it next to the app's own module, and control the locks with `app.get(LockTesting)`.
 *
 * Of the options of a client, only its name, `shutdownTimeout` and those of `LockTestingOptions` apply. All clients have the
 * rules of ZooKeeper; what only Redis has, such as `countDownLatch`, is in {@link RedisLockTestingModule}.
 *
 * @example
 * ```ts
 * const app = await Test.createTestingModule({ imports: [AppModule, LockTestingModule] }).compile();
 * ```
 */
@Module({ imports: [LockTestingCoreModule] })
export class LockTestingModule {
  /** Also registers a client, if the module under test imports no LockModule, with the same options and names. */
  static forRoot(options: LockModuleOptions = {}): DynamicModule {
    return { module: LockTestingModule, imports: [LockModule.forRoot(options)] };
  }
}

/**
 * As {@link LockTestingModule}, but a client with `backend: 'redis'` is the one for Redis, with all of its features and its rules:
 * it runs its scripts on a simulated Redis of its own, also where the app has a cluster. Needs the npm package `fengari`.
 *
 * Of the options of such a client, only its name, `shutdownTimeout` and those of `RedisLockTestingOptions` apply. One with `nodes`
 * (RedLock) is as in `LockTestingModule`.
 *
 * @example
 * ```ts
 * const app = await Test.createTestingModule({ imports: [AppModule, RedisLockTestingModule] }).compile();
 * ```
 */
@Module({ imports: [RedisLockTestingCoreModule] })
export class RedisLockTestingModule {
  /** See `LockTestingModule.forRoot`. */
  static forRoot(options: LockModuleOptions = {}): DynamicModule {
    return { module: RedisLockTestingModule, imports: [LockModule.forRoot(options)] };
  }
}
