import { LockEventEmitter } from '../../../lib/core/internal/lock-event-emitter.js';
import { systemClock } from '../../../lib/core/clock.js';
import type { EmbeddedServer } from '../../../lib/embedded/embedded-server.js';
import { embeddedServers, EmbeddedTransport } from '../../../lib/embedded/embedded-transport.js';
import { RetryForever, type ZooKeeperLockClient } from '../../../lib/index.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import { ZooKeeperLockClient as Client } from '../../../lib/zookeeper/zookeeper-lock-client.js';

/** A connected client of an embedded server that the test has in its hands. */
export async function connectTo(server: EmbeddedServer): Promise<ZooKeeperLockClient> {
  const client = new Client({
    name: 'default',
    connection: new SessionConnection({
      transport: new EmbeddedTransport(server),
      servers: embeddedServers,
      sessionTimeout: Infinity,
      clock: systemClock,
    }),
    events: new LockEventEmitter(),
    clock: systemClock,
    basePath: '/locks',
    literalPaths: true,
    connectTimeout: 1_000,
    wait: 'forever',
    retryPolicy: new RetryForever(50),
  });
  await client.connect();
  return client;
}
