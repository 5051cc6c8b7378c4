import { afterAll, beforeAll, describe } from '@jest/globals';
import type { ConnectionEnvironment } from './connection-environment.js';
import { connectionRequestsSuite } from './connection-requests.suite.js';
import { connectionStatesSuite } from './connection-states.suite.js';
import { connectionWatchesSuite } from './connection-watches.suite.js';

/**
 * Everything that the port `ZooKeeperConnection` promises: whatever passes it can carry the recipes.
 *
 * @param sessionsExpire false: the server keeps sessions for ever, so nothing depends on time
 */
export function zookeeperConnectionSuite(
  name: string,
  makeEnvironment: () => Promise<ConnectionEnvironment>,
  sessionsExpire = true,
): void {
  describe(`ZooKeeperConnection to ${name}`, () => {
    let environment: ConnectionEnvironment;

    beforeAll(async () => {
      environment = await makeEnvironment();
    }, 60_000);
    afterAll(() => environment.stop());

    describe('requests', () => connectionRequestsSuite(() => environment));
    describe('watches', () => connectionWatchesSuite(() => environment));
    describe('states', () => connectionStatesSuite(() => environment, sessionsExpire));
  });
}
