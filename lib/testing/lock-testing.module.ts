import { type DynamicModule, Global, Logger, Module } from '@nestjs/common';
import type { LockModuleOptions } from '../interfaces/lock-module-options.interface.js';
import { LOCK_CLIENT_FACTORY } from '../lock.constants.js';
import { LockModule } from '../lock.module.js';
import { LockTesting } from './lock-testing.js';
import type { LockTestingOptions } from './testing-client.js';

const logger = new Logger('LockModule');

/** Providers that exist once per test, however many clients the app has. */
@Global()
@Module({
  providers: [
    LockTesting,
    {
      provide: LOCK_CLIENT_FACTORY,
      inject: [LockTesting],
      useFactory: (testing: LockTesting) => (name: string, options: LockTestingOptions) => {
        logger.warn(`Lock client "${name}" is one for tests: no other process is excluded.`);
        return testing.createClient(name, options);
      },
    },
  ],
  exports: [LockTesting, LOCK_CLIENT_FACTORY],
})
class LockTestingCoreModule {}

/**
 * Runs the locks of an app in virtual time, in this process, without a server: all clients that the app registers, of any
 * backend. Import it next to the app's own module, and control the locks with `app.get(LockTesting)`.
 *
 * Of the options of a client, only its name, `shutdownTimeout` and those of `LockTestingOptions` apply. Features of a single
 * backend, such as `countDownLatch` of Redis, are not available.
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
