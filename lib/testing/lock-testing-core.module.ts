import { Global, Logger, Module } from '@nestjs/common';
import { LOCK_CLIENT_FACTORY } from '../lock.constants.js';
import type { LockTestingOptions } from './lock-testing-options.js';
import { LockTesting } from './lock-testing.js';

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
