import { describe } from '@jest/globals';
import { createZooKeeperLockClient } from '../../lib/zookeeper/create-zookeeper-lock-client.js';
import { useZooKeeper } from '../support/fixtures.js';
import { drivers } from '../support/zookeeper-driver.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { atomicNumbersSuite } from './atomic-numbers.suite.js';
import { useDeployment } from './backends/stage.js';
import { StandaloneEnvironment, standaloneZooKeeper } from './backends/zookeeper-servers.js';
import { Stage } from './backends/zookeeper.js';
import { barrierSuite } from './barrier.suite.js';
import { clientStatusLossSuite, clientStatusSuite } from './client-status.suite.js';
import { doubleBarrierSuite } from './double-barrier.suite.js';
import { exportedContractSuite } from './exported-contract.suite.js';
import { leaderLatchSuite } from './leader-latch.suite.js';
import { leaderSelectorSuite } from './leader-selector.suite.js';
import { sharedCountSuite } from './shared-count.suite.js';
import { sharedValueSuite } from './shared-value.suite.js';
import { zookeeperConnectionSuite } from './zookeeper-connection.suite.js';

describe('ZooKeeper', () => {
  const on = useDeployment('a standalone server', standaloneZooKeeper, [
    'server',
    'recipe',
    'deployment',
  ]);

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
});

describe('A ZooKeeper server of its own', () => {
  describe.each(drivers)('by the driver "%s"', (driver) =>
    zookeeperConnectionSuite(
      'a standalone server',
      () => StandaloneEnvironment.start(driver),
      true,
      driver !== 'native',
    ),
  );

  clientStatusLossSuite(
    'a standalone server that goes away',
    async () => {
      const server = await ZooKeeperServer.start();
      const { connectString: connect } = server;
      return {
        client: await createZooKeeperLockClient('contract', { connect, sessionTimeout: 2_000 }),
        kill: () => server.kill(),
        restart: () => server.restart(),
        stop: () => server.stop(),
      };
    },
    'degraded',
  );

  describe('with its default settings', () => {
    const server = useZooKeeper();
    exportedContractSuite('a ZooKeeper server', () =>
      createZooKeeperLockClient('default', { connect: server().connectString }),
    );
  });
});
