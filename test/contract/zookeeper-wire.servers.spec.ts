import { describe } from '@jest/globals';
import { useDeployment } from './backends/stage.js';
import { standaloneZooKeeper } from './backends/zookeeper-servers.js';
import { guardedWriteSuite } from './guarded-write.suite.js';
import { lockInternalsSuite } from './lock-internals.suite.js';
import { multiLockSuite } from './multi-lock.suite.js';
import { mutexSuite, semaphoreMutexSuite } from './mutex.suite.js';
import { readWriteLockSuite } from './read-write-lock.suite.js';
import { semaphoreSuite } from './semaphore.suite.js';

describe('ZooKeeper by the wire driver', () => {
  const on = useDeployment('a standalone server', () => standaloneZooKeeper('wire'), [
    'recipe',
    'deployment',
  ]);

  mutexSuite(on);
  semaphoreMutexSuite(on);
  readWriteLockSuite(on);
  multiLockSuite(on);
  guardedWriteSuite(on);
  semaphoreSuite(on);
  lockInternalsSuite(on);
});
