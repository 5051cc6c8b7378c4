import { describe } from '@jest/globals';
import { useDeployment } from './backends/stage.js';
import { ensembleOfZooKeepers } from './backends/zookeeper-servers.js';
import { guardedWriteSuite } from './guarded-write.suite.js';
import { lockInternalsSuite } from './lock-internals.suite.js';
import { multiLockSuite } from './multi-lock.suite.js';
import { handedOnMutexSuite, mutexSuite, semaphoreMutexSuite } from './mutex.suite.js';
import { readWriteLockSuite } from './read-write-lock.suite.js';
import { semaphoreSuite } from './semaphore.suite.js';

describe('ZooKeeper', () => {
  const on = useDeployment('an ensemble', ensembleOfZooKeepers, ['deployment']);

  mutexSuite(on);
  handedOnMutexSuite(on);
  semaphoreMutexSuite(on);
  readWriteLockSuite(on);
  multiLockSuite(on);
  semaphoreSuite(on);
  lockInternalsSuite(on);
});

describe('ZooKeeper by the wire driver', () => {
  guardedWriteSuite(
    useDeployment('an ensemble', () => ensembleOfZooKeepers('wire'), ['deployment']),
  );
});
