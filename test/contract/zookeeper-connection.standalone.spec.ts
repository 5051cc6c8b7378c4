import { StandaloneEnvironment } from './standalone-environment.js';
import { zookeeperConnectionSuite } from './zookeeper-connection.suite.js';

zookeeperConnectionSuite('a standalone server', () => StandaloneEnvironment.start());
