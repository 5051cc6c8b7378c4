import { systemClock } from '../core/clock.js';
import { LockOptionsError } from '../core/errors/index.js';
import { LockEventEmitter } from '../core/internal/lock-event-emitter.js';
import { validateAcquireOptions } from '../core/internal/validation.js';
import type { Wait } from '../core/lock.js';
import { RetryForever } from '../zookeeper/connection/retry-policies.js';
import { SessionConnection } from '../zookeeper/connection/session-connection.js';
import { isCanonicalPath } from '../zookeeper/connection/znode-path.js';
import { ZooKeeperLockClient } from '../zookeeper/zookeeper-lock-client.js';
import { EmbeddedServer } from './embedded-server.js';
import { embeddedServers, EmbeddedTransport } from './embedded-transport.js';

/** Options of a lock client on the embedded tree. */
export interface EmbeddedLockOptions {
  /**
   * Longest wait of an acquire that sets none: milliseconds above 0, or `'forever'`.
   *
   * @default 'forever'
   */
  readonly wait?: Wait | undefined;
  /**
   * Directory of all keys.
   *
   * @default '/locks'
   */
  readonly basePath?: string | undefined;
  /**
   * Whether a key that starts with `/` is the path itself, as on ZooKeeper.
   *
   * @default false
   */
  readonly literalPaths?: boolean | undefined;
}

/**
 * Creates a lock client with its own tree in this process; call `connect()` next. Only users of this one client exclude
 * each other: two clients share nothing, even if they have the same name.
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
    isAlone: true,
  });
}

/** @throws LockOptionsError */
export function validateEmbeddedOptions(
  { wait, basePath, literalPaths }: Required<EmbeddedLockOptions>,
  client: string,
): void {
  validateAcquireOptions({ wait }, { client });
  if (typeof literalPaths !== 'boolean')
    throw new LockOptionsError('literalPaths', literalPaths, 'true or false', { client });
  if (isCanonicalPath(basePath)) return;
  const expected = "a path such as '/locks', without a slash at its end";
  throw new LockOptionsError('basePath', basePath, expected, { client });
}
