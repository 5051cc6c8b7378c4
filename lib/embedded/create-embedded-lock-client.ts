import { systemClock } from '../core/clock.js';
import { LockOptionsError } from '../core/errors/index.js';
import { LockEventEmitter } from '../core/internal/lock-event-emitter.js';
import { validateAcquireOptions } from '../core/internal/validation.js';
import { validateWaiterLimits, type WaiterLimits } from '../core/internal/waiter-limits.js';
import type { Wait } from '../core/lock.js';
import { RetryForever } from '../zookeeper/connection/retry-policies.js';
import { SessionConnection } from '../zookeeper/connection/session-connection.js';
import { isCanonicalPath } from '../zookeeper/connection/znode-path.js';
import { ZooKeeperLockClient } from '../zookeeper/zookeeper-lock-client.js';
import type { Transport } from '../zookeeper/connection/transport.js';
import { EmbeddedServer } from './embedded-server.js';
import { embeddedServers, EmbeddedTransport } from './embedded-transport.js';

/** Options of a lock client on the embedded tree. */
export interface EmbeddedLockOptions extends WaiterLimits {
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

/** A server of this process; it is not kept for clients that were never closed, and that nothing refers to. */
interface SharedServer {
  readonly server: WeakRef<EmbeddedServer>;
  /** Number of clients that are not closed. */
  clients: number;
}

const KEY = Symbol.for('nestjs-interlock:embeddedServers');
const shared = globalThis as { [KEY]?: Map<string, SharedServer> };
/** By the names of their clients; shared by every copy of this package. */
const servers = (shared[KEY] ??= new Map<string, SharedServer>());

/** A transport to the server of all clients of that name. When the last of them has closed, its locks and marks are gone. */
function transportTo(name: string): Transport {
  const known = servers.get(name);
  const running = known !== undefined && known.clients > 0 ? known.server.deref() : undefined;
  const server = running ?? new EmbeddedServer();
  const entry = running ? known! : { server: new WeakRef(server), clients: 0 };
  servers.set(name, entry);
  entry.clients += 1;
  const transport = new EmbeddedTransport(server);
  return {
    open: (options, listener) => transport.open(options, listener),
    close: async () => void (entry.clients -= 1),
  };
}

/**
 * Creates a lock client on a tree in this process; call `connect()` next. Clients of one name share their locks, also those of
 * several apps in the process; clients of different names share nothing.
 *
 * @throws LockOptionsError
 */
export function createEmbeddedLockClient(
  name: string,
  options: EmbeddedLockOptions = {},
): ZooKeeperLockClient {
  const { wait = 'forever', basePath = '/locks', literalPaths = false } = options;
  const { maxWaiters, maxWaitersPerKey, onDeadlock, handOff } = options;
  const limits = { maxWaiters, maxWaitersPerKey, onDeadlock, handOff };
  validateEmbeddedOptions({ wait, basePath, literalPaths, ...limits }, name);
  const connection = new SessionConnection({
    transport: transportTo(name),
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
    isLocal: true,
    ...limits,
    serverIds: () => [`embedded "${name}"`],
  });
}

type ValidatedOptions = Required<Omit<EmbeddedLockOptions, keyof WaiterLimits>> & WaiterLimits;

/** @throws LockOptionsError */
export function validateEmbeddedOptions(
  { wait, basePath, literalPaths, ...limits }: ValidatedOptions,
  client: string,
): void {
  validateAcquireOptions({ wait }, { client });
  validateWaiterLimits(limits, client);
  if (typeof literalPaths !== 'boolean')
    throw new LockOptionsError('literalPaths', literalPaths, 'true or false', { client });
  if (isCanonicalPath(basePath)) return;
  const expected = "a path such as '/locks', without a slash at its end";
  throw new LockOptionsError('basePath', basePath, expected, { client });
}
