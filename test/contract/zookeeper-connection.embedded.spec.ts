import { EmbeddedEnvironment } from './embedded-environment.js';
import { zookeeperConnectionSuite } from './zookeeper-connection.suite.js';

zookeeperConnectionSuite('the embedded tree', async () => new EmbeddedEnvironment(), false);

zookeeperConnectionSuite(
  'the embedded tree with sessions that expire',
  async () => new EmbeddedEnvironment({ tickTime: 500 }),
);
