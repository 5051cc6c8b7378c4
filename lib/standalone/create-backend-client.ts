import { NotShown } from '../core/errors/shown-value.js';
import { type LockClient, LockOptionsError } from '../core/index.js';
import { createEmbeddedLockClient } from '../embedded/create-embedded-lock-client.js';
import type {
  BackendOptions,
  EmbeddedClientOptions,
  RedisClientOptions,
  ZooKeeperClientOptions,
} from '../interfaces/lock-client-options.interface.js';
import { createRedisLockClient } from '../redis/create-redis-lock-client.js';
import { createRedLockClient } from '../redis/red-lock/create-red-lock-client.js';
import { createZooKeeperLockClient } from '../zookeeper/create-zookeeper-lock-client.js';
import { insteadOf, type KnownOptions } from './unknown-option.js';

const COMMON = {
  name: true,
  backend: true,
  maxWaiters: true,
  maxWaitersPerKey: true,
  onDeadlock: true,
  handOff: true,
  namespace: true,
} as const;

/** Options that only backends with servers have. */
const OF_SERVERS = ['connect', 'client', 'cluster', 'nodes'] as const;

const EMBEDDED: Record<
  Exclude<keyof EmbeddedClientOptions, (typeof OF_SERVERS)[number]> | 'name',
  true
> = {
  ...COMMON,
  basePath: true,
  literalPaths: true,
  wait: true,
};

const ZOOKEEPER: Record<keyof ZooKeeperClientOptions | 'name', true> = {
  ...COMMON,
  acl: true,
  auth: true,
  basePath: true,
  connect: true,
  connectTimeout: true,
  driver: true,
  errorPolicy: true,
  literalPaths: true,
  renewalWorker: true,
  retryPolicy: true,
  sasl: true,
  sessionTimeout: true,
  tickTime: true,
  tls: true,
  wait: true,
};

const REDIS: Record<keyof RedisClientOptions | 'name', true> = {
  ...COMMON,
  client: true,
  cluster: true,
  connect: true,
  connectTimeout: true,
  fairLockWaitTimeout: true,
  nodes: true,
  driver: true,
  nodeTimeout: true,
  prefix: true,
  renewalWorker: true,
  replicas: true,
  semaphoreTimeToLive: true,
  shardedSubscriptionMode: true,
  wait: true,
  watchdogTimeout: true,
};

/** Names of the options of each backend, so that a misspelt option is reported, not ignored. */
const knownOptions = (further: readonly string[]): KnownOptions => ({
  embedded: [...Object.keys(EMBEDDED), ...further],
  zookeeper: [...Object.keys(ZOOKEEPER), ...further],
  redis: [...Object.keys(REDIS), ...further],
});

const OBJECT = "an object such as { backend: 'redis', connect: url }";
export const BACKENDS = "'zookeeper', 'redis' or 'embedded'";

/** An option of a name that can be shown: the characters of a text or of a URL may have become options, too. */
const IS_NAME = /^[A-Za-z_][\w.-]{0,39}$/;

/**
 * Creates the client that the options ask for, not connected yet. This is the only place that knows all backends.
 *
 * Options that seem to have lost their backend are rejected: the embedded backend would not exclude other processes.
 *
 * @param further names of options that the caller has checked
 * @throws LockOptionsError
 */
export async function createBackendClient(
  name: string,
  options: BackendOptions,
  further: readonly string[] = [],
): Promise<LockClient> {
  const refuse = (option: string, value: unknown, expected: string): never => {
    throw new LockOptionsError(option, value, expected, { client: name });
  };

  if (!isOptions(options)) return refuse('options', options, OBJECT);
  if ('duplicate' in options)
    return refuse('options', options, "an ioredis client as { backend: 'redis', client }");
  if ('name' in options && options.name !== undefined && options.name !== name)
    return refuse('name', options.name, 'it to forRootAsync, beside the factory');
  if (
    options.backend === undefined &&
    ('backend' in options || OF_SERVERS.some((option) => option in options))
  )
    return refuse('backend', undefined, BACKENDS);
  const { backend = 'embedded' } = options;
  const knownOf = knownOptions(further);
  if (!Object.hasOwn(knownOf, backend)) return refuse('backend', backend, BACKENDS);
  const known = knownOf[backend];
  const unknown = Object.keys(options).find((option) => !known.includes(option));
  if (unknown !== undefined && !IS_NAME.test(unknown)) return refuse('options', options, OBJECT);
  if (unknown !== undefined)
    return refuse(
      unknown,
      new NotShown(`unknown to the backend '${backend}'`),
      insteadOf(unknown, backend, knownOf),
    );

  const placed = inNamespace(options, refuse);
  switch (placed.backend) {
    case undefined:
    case 'embedded':
      return createEmbeddedLockClient(name, placed);
    case 'zookeeper':
      return await createZooKeeperLockClient(name, placed);
    case 'redis':
      return placed.nodes === undefined
        ? await createRedisLockClient(name, placed)
        : await createRedLockClient(name, placed);
  }
}

const NAMESPACE = /^[A-Za-z\d][\w.-]{0,99}$/;

/** The options with their namespace as the prefix or the directory of the backend. */
function inNamespace(
  options: BackendOptions,
  refuse: (option: string, value: unknown, expected: string) => never,
): BackendOptions {
  const { namespace } = options;
  if (namespace === undefined) return options;
  if (typeof namespace !== 'string' || !NAMESPACE.test(namespace))
    refuse('namespace', namespace, "letters, digits, '.', '_' and '-', such as 'shop-staging'");
  const either = 'either it or `namespace`';
  if (options.backend === 'redis') {
    if (options.prefix !== undefined) refuse('prefix', options.prefix, either);
    return { ...options, prefix: `${namespace}:` };
  }
  if (options.basePath !== undefined) refuse('basePath', options.basePath, either);
  return { ...options, basePath: `/locks/${namespace}` };
}

/**
 * False for what has nothing to do with options, although it is an object: a URL or a Map has no properties of its own, so it
 * would count as `{}`, and lock inside of this process.
 */
function isOptions(value: unknown): value is BackendOptions {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  return isPlain || Object.keys(value).length > 0 || 'backend' in value;
}
