import { type DynamicModule, Global, Logger, Module } from '@nestjs/common';
import type { LockModuleOptions } from '../interfaces/lock-module-options.interface.js';
import { LOCK_CLIENT_FACTORY } from '../lock.constants.js';
import { LockModule } from '../lock.module.js';
import { LockTesting } from './lock-testing.js';
import type { LockTestingOptions } from './testing-client.js';

const logger = new Logger('LockModule');

/** What a test has once, however many clients its app has. */
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
export class LockTestingCoreModule {}

/**
 * Puts the locks of an app into virtual time, in this process, without a server: all clients that the app registers, of
 * whatever backend. Import it beside the app's own module, and steer the locks with `app.get(LockTesting)`.
 *
 * Of the options of a client, those of `LockTestingOptions` count, with its name and `shutdownTimeout`. What only the clients
 * of one backend can do, as `countDownLatch` of Redis, is not there.
 *
 * @example
 * ```ts
 * const app = await Test.createTestingModule({ imports: [AppModule, LockTestingModule] }).compile();
 * ```
 */
@Module({ imports: [LockTestingCoreModule] })
export class LockTestingModule {
  /** Registers a client too, where the module under test imports no LockModule: the same options, the same names. */
  static forRoot(options: LockModuleOptions = {}): DynamicModule {
    return { module: LockTestingModule, imports: [LockModule.forRoot(options)] };
  }
}
