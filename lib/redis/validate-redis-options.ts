import { LockOptionsError } from '../core/errors/index.js';
import { NotShown } from '../core/errors/shown-value.js';
import { validateAcquireOptions } from '../core/internal/validation.js';
import { validateWaiterLimits } from '../core/internal/waiter-limits.js';
import { addressOf } from './node-address.js';
import {
  isHostAndPort,
  mistakeInAddress,
  mistakeInQuery,
  mistakeInUrl,
  type ServerAddress,
} from './server-address.js';
import { isIoRedis, isRedisCluster } from './connection/ioredis.js';
import {
  clusterOptionsOf,
  isNodeRedisCluster,
  isNodeRedisSentinel,
} from './node-redis/node-redis.js';
import { isClient } from './drivers.js';
import { validateLease } from './locks/redis-lease.js';
import type { RedisLockOptions } from './redis-options.js';
import { validateWorkerOptions } from './renewal-worker/renewal-worker.js';

/** Throws for an option that is out of its range. */
type RefuseOption = (option: string, value: unknown, expected: string) => never;

/** What belongs into an option that locates servers, of which nothing is ever shown. */
const URL_OR_OPTIONS = "a URL such as 'redis://localhost:6379', or options of ioredis";
const NODES = "its nodes: { nodes: [{ host: 'redis-1', port: 6379 }], options }";
/** An address that holds no name: any other one may be that of a user, or a password. */
const BARE_ADDRESS = /^(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:]+\])(?::\d{1,5})?$/i;
const NOT_SHOWN = new NotShown('invalid, and not shown here');

/** Validates the options that locate the servers. */
function validateSources(
  {
    client,
    connect,
    cluster,
    driver,
  }: Pick<RedisLockOptions, 'client' | 'connect' | 'cluster' | 'driver'>,
  refuse: RefuseOption,
): void {
  if (client !== undefined && !isClient(client))
    refuse(
      'client',
      NOT_SHOWN,
      isNodeRedisSentinel(client)
        ? "`connect: { name, sentinelRootNodes, … }` with `driver: 'node-redis'`: the options of a client by createSentinel cannot be read"
        : 'an ioredis Redis or Cluster, or a client by createClient or createCluster of `redis`; a URL or options are the `connect`',
    );
  if (isClient(connect)) refuse('connect', NOT_SHOWN, 'your client as `client`');
  if (typeof connect === 'string') {
    const mistake = mistakeInUrl(connect);
    if (mistake) refuse('connect', BARE_ADDRESS.test(connect) ? connect : NOT_SHOWN, mistake);
  } else if (connect !== undefined) {
    if (!isPlain(connect)) refuse('connect', NOT_SHOWN, URL_OR_OPTIONS);
    const has = (...names: string[]) => names.some((name) => name in connect);
    if (
      driver !== 'node-redis' &&
      has('url', 'uri', 'connectionString', 'connect') &&
      !has('host', 'path', 'sentinels', 'socket')
    )
      refuse('connect', NOT_SHOWN, 'the URL itself, as a text: ioredis has no such option');
  }
  if (cluster !== undefined) validateCluster(cluster, refuse);

  const own = isNodeRedisCluster(client)
    ? { ...clusterOptionsOf(client), redisOptions: clusterOptionsOf(client)?.defaults }
    : client && (Reflect.get(client, 'options') as object | undefined);
  const options = Object([own, connect, cluster?.options].find(Boolean)) as IoOptions;
  const mistake = mistakeInAddress(options);
  if (mistake) refuse(client ? 'client' : 'connect', NOT_SHOWN, mistake);
  const nodes = cluster?.nodes ?? startupNodesOf(client);
  for (const node of nodes) {
    const wrong = typeof node === 'string' && mistakeInQuery(node);
    if (wrong) refuse('client', NOT_SHOWN, wrong);
  }
  for (const { keyPrefix, autoResendUnfulfilledCommands } of [
    options,
    options.redisOptions ?? {},
    ...nodes.map((node) => Object(node) as IoOptions), // which override those for all nodes
  ]) {
    if (keyPrefix)
      refuse(
        'keyPrefix',
        keyPrefix,
        'none to the driver, which would not prefix the names that a script builds, and `prefix` to the lock client instead',
      );
    if (autoResendUnfulfilledCommands === false)
      refuse(
        'autoResendUnfulfilledCommands',
        false,
        'true to ioredis: otherwise it drops commands when the connection breaks, and a lock would wait forever for the answer (the commands of this library may be sent twice)',
      );
  }
}

/** The nodes that a Cluster of ioredis was made with. */
function startupNodesOf(client: RedisLockOptions['client']): readonly unknown[] {
  return (Reflect.get(Object(client) as object, 'startupNodes') as unknown[] | undefined) ?? [];
}

function validateCluster(cluster: RedisLockOptions['cluster'], refuse: RefuseOption): void {
  if (!isPlain(cluster) || !Array.isArray(cluster.nodes) || cluster.nodes.length === 0)
    return refuse('cluster', NOT_SHOWN, NODES);
  refuseOthers('cluster', cluster, ['nodes', 'options'], refuse);
  for (const node of cluster.nodes as readonly unknown[]) {
    if (typeof node === 'string' && isHostAndPort(node)) continue;
    if (typeof node !== 'string' && !isPlain(node)) refuse('cluster.nodes', NOT_SHOWN, NODES);
    const mistake = typeof node === 'string' ? mistakeInUrl(node) : mistakeInAddress(node);
    if (mistake) refuse('cluster.nodes', NOT_SHOWN, mistake);
  }
}

/** Refuses the first property that is not one of `names`: ioredis would never see it. */
function refuseOthers(
  option: string,
  value: object,
  names: readonly string[],
  refuse: RefuseOption,
): void {
  const other = Object.keys(value).find((name) => !names.includes(name));
  if (other === undefined) return;
  const list = names.map((name) => `\`${name}\``).join(', ');
  const name = /^\w{1,40}$/.test(other) ? ` \`${other}\`` : '';
  const shown = new NotShown(`an object with an unknown property${name}`);
  refuse(option, shown, `${list} only${option === 'cluster' ? CLUSTER_OPTIONS : ''}`);
}

const CLUSTER_OPTIONS = ', and credentials inside of its `options`: { redisOptions: { password } }';

/**
 * Whether it is an object of named properties. Of another one, such as a URL, a list or a promise, ioredis would see no host, and
 * connect to the local one.
 */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.keys(value).length > 0 || Object.getPrototypeOf(value) === Object.prototype;
}

/** The options of an ioredis client that are validated here. */
interface IoOptions extends ServerAddress {
  readonly keyPrefix?: string;
  readonly autoResendUnfulfilledCommands?: boolean;
  readonly redisOptions?: IoOptions;
}

/** Fewest servers of a RedLock: with fewer, a majority needs all of them. */
const FEWEST = 3;

/** Validates the servers of a RedLock, as far as possible before they are connected. */
function validateNodes(
  { nodes, nodeTimeout, watchdogTimeout = 30_000, driver }: RedisLockOptions,
  refuse: RefuseOption,
): void {
  if (nodes === undefined) {
    if (nodeTimeout !== undefined) refuse('nodeTimeout', nodeTimeout, 'it together with `nodes`');
    return;
  }
  if (!Array.isArray(nodes) || nodes.length < FEWEST)
    refuse('nodes', new NotShown('too few'), `at least ${FEWEST} servers, and an odd number`);
  const seen = new Set<unknown>();
  for (const node of nodes as readonly unknown[]) {
    if (node === undefined || node === null)
      refuse('nodes', node, 'for each server a URL, options of ioredis, or a Redis of yours');
    const source = isClient(node) ? { client: node } : { connect: node, driver };
    validateSources(source, (_, value, expected) => refuse('nodes', value, expected));
    if (isNodeRedisCluster(node) || (isIoRedis(node) && isRedisCluster(node)))
      refuse(
        'nodes',
        new NotShown('a Cluster'),
        'independent servers; a cluster is one client of its own',
      );
    const address = addressOf(node);
    if (seen.has(address))
      refuse('nodes', new NotShown('the same server twice'), 'each of them once');
    seen.add(address);
  }
  if (nodeTimeout !== undefined && !isIn(nodeTimeout, 1, watchdogTimeout / 3))
    refuse('nodeTimeout', nodeTimeout, 'milliseconds from 1 to a third of the `watchdogTimeout`');
}

function isIn(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && value >= least && value <= most;
}

const SOURCES = ['client', 'connect', 'cluster', 'nodes'] as const;
const DRIVERS: readonly unknown[] = [undefined, 'ioredis', 'node-redis'];
const MODES: readonly unknown[] = [undefined, 'auto', 'on', 'off'];

/** Throws {@link LockOptionsError} for the first option that is out of its range. */
export function validateRedisOptions(options: RedisLockOptions, client: string): void {
  const refuse = (option: string, value: unknown, expected: string): never => {
    throw new LockOptionsError(option, value, expected, { client });
  };
  const given = SOURCES.filter((source) => options[source] !== undefined);
  if (given.length !== 1)
    refuse(
      given[1] ?? 'connect',
      given.length === 0 ? undefined : new NotShown('given too'),
      "one of `connect: 'redis://localhost:6379'`, `client`, `cluster` and `nodes`",
    );
  const { driver } = options;
  if (!DRIVERS.includes(driver)) refuse('driver', driver, "'ioredis' or 'node-redis'");
  if (driver !== undefined && options.client !== undefined)
    refuse('driver', driver, 'it together with `connect` or `cluster`: your client has its own');
  validateSources(options, refuse);
  validateNodes(options, refuse);

  const { connectTimeout, watchdogTimeout, fairLockWaitTimeout, prefix, wait } = options;
  if (connectTimeout !== undefined && !isTime(connectTimeout))
    refuse('connectTimeout', connectTimeout, 'milliseconds above 0 and below 2^31');
  const isWhole = fairLockWaitTimeout === undefined || Number.isInteger(fairLockWaitTimeout); // scripts calculate with it
  if (!isWhole || !isTime(fairLockWaitTimeout ?? 1))
    refuse('fairLockWaitTimeout', fairLockWaitTimeout, 'whole milliseconds from 1 to 2^31 - 1');
  if (watchdogTimeout !== undefined) validateLease('watchdogTimeout', watchdogTimeout, { client });
  validateWorkerOptions(options, client);
  const { semaphoreTimeToLive } = options;
  if (semaphoreTimeToLive !== undefined)
    validateLease('semaphoreTimeToLive', semaphoreTimeToLive, { client });
  if (prefix !== undefined && typeof prefix !== 'string') refuse('prefix', prefix, 'a text');
  validateAcquireOptions({ wait }, { client });
  validateWaiterLimits(options, client);
  const { shardedSubscriptionMode, replicas } = options;
  if (!MODES.includes(shardedSubscriptionMode))
    refuse('shardedSubscriptionMode', shardedSubscriptionMode, "'auto', 'on' or 'off'");
  if (replicas === undefined) return;
  const { atLeast, timeout = 1, otherwise = 'fail' } = replicas ?? {};
  refuseOthers('replicas', Object(replicas) as object, ['atLeast', 'timeout', 'otherwise'], refuse);
  if (!(Number.isInteger(atLeast) && atLeast > 0))
    refuse('replicas.atLeast', atLeast, 'a whole number from 1');
  if (!(Number.isInteger(timeout) && timeout > 0))
    refuse('replicas.timeout', timeout, 'whole milliseconds above 0');
  if (otherwise !== 'fail' && otherwise !== 'warn')
    refuse('replicas.otherwise', otherwise, "'fail' or 'warn'");
}

function isTime(ms: number): boolean {
  return Number.isFinite(ms) && ms > 0 && ms < 2 ** 31;
}
