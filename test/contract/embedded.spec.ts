import { describe } from '@jest/globals';
import { createEmbeddedLockClient } from '../../lib/embedded/create-embedded-lock-client.js';
import { atomicNumbersSuite } from './atomic-numbers.suite.js';
import { EmbeddedBackend, EmbeddedEnvironment } from './backends/embedded.js';
import { useDeployment } from './backends/stage.js';
import { Stage } from './backends/zookeeper.js';
import { barrierSuite } from './barrier.suite.js';
import { clientStatusSuite } from './client-status.suite.js';
import { doubleBarrierSuite } from './double-barrier.suite.js';
import { exportedContractSuite } from './exported-contract.suite.js';
import { guardedWriteSuite } from './guarded-write.suite.js';
import { leaderLatchSuite } from './leader-latch.suite.js';
import { leaderSelectorSuite } from './leader-selector.suite.js';
import { lockInternalsSuite } from './lock-internals.suite.js';
import { handedOnMultiLockSuite, multiLockSuite } from './multi-lock.suite.js';
import { handedOnMutexSuite, mutexSuite, semaphoreMutexSuite } from './mutex.suite.js';
import { readWriteLockSuite, sharedReadLockSuite } from './read-write-lock.suite.js';
import { semaphoreSuite } from './semaphore.suite.js';
import { sharedCountSuite } from './shared-count.suite.js';
import { sharedValueSuite } from './shared-value.suite.js';
import { zookeeperConnectionSuite } from './zookeeper-connection.suite.js';

describe('Embedded', () => {
  const on = useDeployment('the embedded tree', async () => new EmbeddedBackend());

  mutexSuite(on);
  handedOnMutexSuite(on);
  semaphoreMutexSuite(on);
  readWriteLockSuite(on);
  sharedReadLockSuite(on);
  multiLockSuite(on);
  handedOnMultiLockSuite(on);
  guardedWriteSuite(on);
  semaphoreSuite(on);
  lockInternalsSuite(on);
  leaderLatchSuite(on);
  leaderSelectorSuite(on);
  barrierSuite(on);
  doubleBarrierSuite(on);
  sharedCountSuite(on);
  sharedValueSuite(on);
  atomicNumbersSuite(on);
  clientStatusSuite(on, () => Stage.build(on.backend()), {
    holders: (stage) => stage.contenders(),
    suspended: 'degraded',
    sessionId: ({ mine }) => mine.connection.session!.id,
  });
  zookeeperConnectionSuite('the embedded tree', async () => new EmbeddedEnvironment(), false);
  zookeeperConnectionSuite(
    'the embedded tree with sessions that expire',
    async () => new EmbeddedEnvironment({ tickTime: 500 }),
  );
  exportedContractSuite('the embedded tree', () => createEmbeddedLockClient('default'), {
    isShared: false,
  });
});
