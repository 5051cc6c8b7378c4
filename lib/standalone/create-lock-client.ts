import { LockOptionsError } from '../core/index.js';
import type {
  BackendOptions,
  EmbeddedClientOptions,
  RedisClientOptions,
  ZooKeeperClientOptions,
} from '../interfaces/lock-client-options.interface.js';
import { DEFAULT_LOCK_CLIENT } from '../lock.constants.js';
import type { RedLockClient } from '../redis/red-lock/red-lock-client.js';
import type { RedisLockClient } from '../redis/redis-lock-client.js';
import type { ZooKeeperLockClient } from '../zookeeper/zookeeper-lock-client.js';
import { createBackendClient } from './create-backend-client.js';

/** The name of a client. */
interface Named {
  /**
   * Name of the client, in errors and events. Embedded clients of one name share their locks.
   *
   * @default 'default'
   */
  readonly name?: string | undefined;
}

/** Options of `createLockClient`: those of `LockModule.forRoot`, without the ones for the shutdown and the methods of an app. */
export type LockClientOptions = BackendOptions & Named;

/** A client on several independent Redis servers. */
type RedLockOptions = RedisClientOptions & { readonly nodes: object };

/**
 * Creates a lock client and connects it, without Nest. Close it at the end, with `close()` or by `await using`: otherwise its
 * connection keeps the process alive.
 *
 * Rejects with `LockOptionsError`, and with `LockConnectionError` when it is not connected within `connectTimeout`; nothing is
 * left open then.
 *
 * @param options default: the embedded backend, whose locks are inside this process
 *
 * @example
 * ```ts
 * await using locks = await createLockClient({ backend: 'redis', connect: 'redis://localhost' });
 * await locks.mutex('report').using(() => writeReport());
 * ```
 */
export function createLockClient(options: RedLockOptions & Named): Promise<RedLockClient>;
export function createLockClient(options: RedisClientOptions & Named): Promise<RedisLockClient>;
export function createLockClient(
  options?: (EmbeddedClientOptions | ZooKeeperClientOptions) & Named,
): Promise<ZooKeeperLockClient>;
export function createLockClient(
  options: LockClientOptions,
): Promise<RedLockClient | RedisLockClient | ZooKeeperLockClient>;
export async function createLockClient(options: LockClientOptions = {}) {
  const { name = DEFAULT_LOCK_CLIENT } = (options as LockClientOptions | null) ?? {};
  if (typeof name !== 'string' || name === '')
    throw new LockOptionsError('name', name, 'a name that is not empty, or none');
  const client = await createBackendClient(name, options);
  try {
    await client.connect();
  } catch (error) {
    await client.close();
    throw error;
  }
  return client as RedLockClient | RedisLockClient | ZooKeeperLockClient;
}
