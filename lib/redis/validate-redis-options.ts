import { LockOptionsError } from '../core/errors/index.js';
import { validateAcquireOptions } from '../core/validate-acquire-options.js';
import { validateLease } from './recipes/validate-lease.js';
import type { RedisLockOptions } from './redis-lock-options.js';

const SOURCES = ['client', 'connect', 'cluster'] as const;
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
      given.length === 0 ? undefined : 'given too', // it may contain a password
      "one of `connect: 'redis://localhost:6379'`, `client` and `cluster`",
    );
  validateSources(options, refuse);

  const { connectTimeout, watchdogTimeout, fairLockWaitTimeout, prefix, wait } = options;
  for (const [option, ms] of Object.entries({ connectTimeout, fairLockWaitTimeout }))
    if (ms !== undefined && !(Number.isFinite(ms) && ms > 0 && ms < 2 ** 31))
      refuse(option, ms, 'milliseconds above 0 and below 2^31');
  if (watchdogTimeout !== undefined) validateLease('watchdogTimeout', watchdogTimeout, { client });
  if (prefix !== undefined && typeof prefix !== 'string') refuse('prefix', prefix, 'a text');
  validateAcquireOptions({ wait }, { client });
  const { shardedSubscriptionMode, replicas } = options;
  if (!MODES.includes(shardedSubscriptionMode))
    refuse('shardedSubscriptionMode', shardedSubscriptionMode, "'auto', 'on' or 'off'");
  if (replicas === undefined) return;
  const { atLeast, timeout = 1, otherwise = 'fail' } = replicas ?? {};
  if (!(Number.isInteger(atLeast) && atLeast > 0))
    refuse('replicas.atLeast', atLeast, 'a whole number from 1');
  if (!(Number.isInteger(timeout) && timeout > 0))
    refuse('replicas.timeout', timeout, 'whole milliseconds above 0');
  if (otherwise !== 'fail' && otherwise !== 'warn')
    refuse('replicas.otherwise', otherwise, "'fail' or 'warn'");
}

type Refuse = (option: string, value: unknown, expected: string) => never;

function validateSources({ client, connect, cluster }: RedisLockOptions, refuse: Refuse): void {
  const isClient =
    typeof client === 'object' &&
    ['call', 'duplicate', 'on'].every((it) => typeof Reflect.get(client ?? {}, it) === 'function');
  if (client !== undefined && !isClient) refuse('client', client, 'an ioredis Redis or Cluster');
  const isText = typeof connect === 'string' && /^rediss?:\/\/./.test(connect);
  if (connect !== undefined && !isText && (typeof connect !== 'object' || connect === null))
    refuse(
      'connect',
      'not shown here',
      "a URL such as 'redis://localhost:6379', or options of ioredis",
    );
  if (cluster !== undefined && !(Array.isArray(cluster?.nodes) && cluster.nodes.length > 0))
    refuse('cluster', cluster, "its nodes: { nodes: [{ host: 'redis-1', port: 6379 }] }");

  const options = Object([client?.options, connect, cluster?.options].find(Boolean)) as IoOptions;
  for (const { keyPrefix, autoResendUnfulfilledCommands } of [
    options,
    options.redisOptions ?? {},
  ]) {
    if (keyPrefix)
      refuse(
        'keyPrefix',
        keyPrefix,
        'none to ioredis, which leaves out the names that a script makes, and `prefix` to the lock client instead',
      );
    if (autoResendUnfulfilledCommands === false)
      refuse(
        'autoResendUnfulfilledCommands',
        false,
        'true to ioredis: without it, it forgets commands when the connection breaks, and a lock would wait for the answer for ever (ours may be sent twice)',
      );
  }
}

/** What we look at of the options of a client. */
interface IoOptions {
  readonly keyPrefix?: string;
  readonly autoResendUnfulfilledCommands?: boolean;
  readonly redisOptions?: IoOptions;
}
