import { describe } from '@jest/globals';
import { atomicNumbersSuite } from './atomic-numbers.suite.js';
import { useDeployment } from './backends/stage.js';
import { ensembleOfZooKeepers } from './backends/zookeeper-servers.js';
import { barrierSuite } from './barrier.suite.js';
import { doubleBarrierSuite } from './double-barrier.suite.js';
import { leaderLatchSuite } from './leader-latch.suite.js';
import { leaderSelectorSuite } from './leader-selector.suite.js';
import { sharedCountSuite } from './shared-count.suite.js';
import { sharedValueSuite } from './shared-value.suite.js';

describe('ZooKeeper', () => {
  const on = useDeployment('an ensemble', ensembleOfZooKeepers, ['deployment']);

  leaderLatchSuite(on);
  leaderSelectorSuite(on);
  barrierSuite(on);
  doubleBarrierSuite(on);
  sharedCountSuite(on);
  sharedValueSuite(on);
  atomicNumbersSuite(on);
});
