import { LIVENESS } from '../core/internal/client-lifecycle.js';
import { LockEventEmitter } from '../core/internal/lock-event-emitter.js';
import { systemClock } from '../core/clock.js';
import { parseConnectString, ServerList } from './connection/server-list.js';
import { RetryForever } from './connection/retry-policies.js';
import { SessionConnection } from './connection/session-connection.js';
import { makeTransport } from './drivers.js';
import { validateZooKeeperOptions, type ZooKeeperLockOptions } from './zookeeper-options.js';
import { SessionWorker } from './session-worker/session-worker.js';
import { ZooKeeperLockClient } from './zookeeper-lock-client.js';

/**
 * Creates a lock client for a ZooKeeper ensemble; call `connect()` next.
 *
 * Rejects with `LockOptionsError` for invalid options, or with `LockConnectionError` when the driver is `'native'`, and the
 * package `zookeeper` is not installed.
 */
export async function createZooKeeperLockClient(
  name: string,
  options: ZooKeeperLockOptions,
): Promise<ZooKeeperLockClient> {
  validateZooKeeperOptions(options, name);
  const {
    sessionTimeout = 30_000,
    connectTimeout = 15_000,
    basePath = '/locks',
    wait = 'forever',
  } = options;
  const {
    retryPolicy = new RetryForever(50),
    auth,
    acl,
    tickTime,
    errorPolicy,
    literalPaths,
    maxWaiters,
    maxWaitersPerKey,
    onDeadlock,
    handOff,
  } = options;
  const { servers, chroot } = parseConnectString(options.connect, name);
  const events = new LockEventEmitter(name);
  const list = new ServerList(servers, Math.random, systemClock);
  const { maxStall } = options.renewalWorker ?? {};
  const worker =
    maxStall === undefined ? undefined : new SessionWorker(name, options, maxStall, systemClock);
  const connection = new SessionConnection({
    transport: await makeTransport(options, name),
    servers: list,
    sessionTimeout,
    tickTime,
    clock: systemClock,
    auth,
    catchUp: worker && (() => worker.catchUp()),
    onAttemptFailed: (reason) => events.emit('connection', { state: connection.state, reason }),
  });
  const client = new ZooKeeperLockClient({
    name,
    connection,
    worker,
    serverIds: () => list.known.map((address) => `zookeeper ${address}`),
    events,
    clock: systemClock,
    chroot,
    basePath,
    literalPaths,
    connectTimeout,
    wait,
    retryPolicy,
    errorPolicy,
    acl,
    maxWaiters,
    maxWaitersPerKey,
    onDeadlock,
    handOff,
  });
  return Object.assign(client, { [LIVENESS]: connection });
}
