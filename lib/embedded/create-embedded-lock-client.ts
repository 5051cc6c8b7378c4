import { LockEventEmitter } from '../core/internal/lock-event-emitter.js';
import { systemClock } from '../core/clock.js';
import { RetryForever } from '../zookeeper/connection/retry-policies.js';
import { SessionConnection } from '../zookeeper/connection/session-connection.js';
import { ZooKeeperLockClient } from '../zookeeper/zookeeper-lock-client.js';
import type { EmbeddedLockOptions } from './embedded-lock-options.js';
import { EmbeddedServer } from './embedded-server.js';
import { embeddedServers } from './embedded-servers.js';
import { EmbeddedTransport } from './embedded-transport.js';
import { validateEmbeddedOptions } from './validate-embedded-options.js';

/**
 * A lock client on a tree of its own in this process; call `connect()` next. Only users of this one client exclude each
 * other: two clients share nothing, also when they have the same name.
 *
 * @throws LockOptionsError
 */
export function createEmbeddedLockClient(
  name: string,
  { wait = 'forever', basePath = '/locks', literalPaths = false }: EmbeddedLockOptions = {},
): ZooKeeperLockClient {
  validateEmbeddedOptions({ wait, basePath, literalPaths }, name);
  const connection = new SessionConnection({
    transport: new EmbeddedTransport(new EmbeddedServer()),
    servers: embeddedServers,
    sessionTimeout: Infinity,
    clock: systemClock,
  });
  return new ZooKeeperLockClient({
    name,
    connection,
    events: new LockEventEmitter(name),
    clock: systemClock,
    basePath,
    literalPaths,
    connectTimeout: 15_000,
    wait,
    retryPolicy: new RetryForever(50),
  });
}
