import { LockOptionsError, type LockClient } from './core/index.js';
import { createEmbeddedLockClient } from './embedded/create-embedded-lock-client.js';
import type { LockModuleOptions } from './interfaces/lock-module-options.interface.js';
import { createRedisLockClient } from './redis/create-redis-lock-client.js';
import { createZooKeeperLockClient } from './zookeeper/create-zookeeper-lock-client.js';

const BACKENDS = "'zookeeper', 'redis' or 'embedded'";

/** Options that only backends with servers have. */
const OF_SERVERS = ['connect', 'client', 'cluster'];

/**
 * Makes the client that the options ask for, not connected yet. This alone knows that there are several backends.
 *
 * Options that seem to have lost their backend are refused: the embedded one would keep no other process out.
 *
 * @throws LockOptionsError
 */
export async function createLockClient(
  name: string,
  options: LockModuleOptions,
): Promise<LockClient> {
  const refuse = (option: string, value: unknown, expected: string): never => {
    throw new LockOptionsError(option, value, expected, { client: name });
  };

  if (typeof options !== 'object' || options === null)
    return refuse('options', options, 'an object; `{}` means the embedded backend');
  if ('name' in options && options.name !== name)
    return refuse('name', options.name, 'it to forRootAsync, beside the factory');
  if (
    options.backend === undefined &&
    ('backend' in options || OF_SERVERS.some((option) => option in options))
  )
    return refuse('backend', undefined, BACKENDS);

  switch (options.backend) {
    case undefined:
    case 'embedded':
      return createEmbeddedLockClient(name, options);
    case 'zookeeper':
      return createZooKeeperLockClient(name, options);
    case 'redis':
      return createRedisLockClient(name, options);
    default:
      return refuse('backend', (options as { backend: unknown }).backend, BACKENDS);
  }
}
