import { describe } from '@jest/globals';
import { defaultDriver } from '../support/zookeeper-driver.js';
import { useDeployment } from './backends/stage.js';
import { standaloneZooKeeper } from './backends/zookeeper-servers.js';
import { noGuardedWriteSuite } from './guarded-write.suite.js';
import { lockInternalsSuite } from './lock-internals.suite.js';
import { handedOnMultiLockSuite, multiLockSuite } from './multi-lock.suite.js';
import { handedOnMutexSuite, mutexSuite, semaphoreMutexSuite } from './mutex.suite.js';
import { readWriteLockSuite, sharedReadLockSuite } from './read-write-lock.suite.js';
import { semaphoreSuite } from './semaphore.suite.js';

describe('ZooKeeper', () => {
  const on = useDeployment('a standalone server', standaloneZooKeeper, [
    'server',
    'recipe',
    'deployment',
  ]);

  mutexSuite(on);
  handedOnMutexSuite(on);
  semaphoreMutexSuite(on);
  readWriteLockSuite(on);
  sharedReadLockSuite(on);
  multiLockSuite(on);
  handedOnMultiLockSuite(on);
  if (defaultDriver === 'native') noGuardedWriteSuite(on);
  semaphoreSuite(on);
  lockInternalsSuite(on);
});
