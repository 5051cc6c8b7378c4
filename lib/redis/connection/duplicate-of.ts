import { followCredentials } from './follow-credentials.js';
import { isRedisCluster, type RedisClient, type RedisNode } from './redis-client.js';

/** Delay before the next attempt to connect, in ms; else there is none. */
type RetryStrategy = (attempt: number, ...reason: unknown[]) => unknown;

/** What we look at of the options of a client. */
interface TemplateOptions {
  readonly db?: number;
  readonly retryStrategy?: RetryStrategy | null;
  readonly clusterRetryStrategy?: RetryStrategy | null;
  readonly redisOptions?: object;
}

/**
 * A client of our own that reaches the same servers as the user's, and leaves that alone.
 *
 * @param defaults options of its connections that the user's client may have set otherwise
 * @param ours options that are ours to set
 */
export function duplicateOf(client: RedisClient, defaults: object, ours: object): RedisClient {
  const options = client.options as TemplateOptions;
  if (isRedisCluster(client)) {
    const redisOptions = { ...defaults, ...given(options.redisOptions ?? {}) };
    const clusterRetryStrategy = untiring(options.clusterRetryStrategy);
    return client.duplicate([], { ...ours, redisOptions, clusterRetryStrategy });
  }
  const own = client.duplicate({
    ...defaults,
    ...given(options),
    ...ours,
    db: databaseOf(client),
    retryStrategy: untiring(options.retryStrategy),
  });
  followCredentials(own, client);
  return own;
}

/** The one that the user has selected last: it is not among the options, and kept elsewhere while ioredis reconnects. */
function databaseOf(client: RedisNode): number | undefined {
  for (const name of ['prevCondition', 'condition']) {
    const condition = Reflect.get(client, name) as { readonly select?: number } | null | undefined;
    if (condition?.select !== undefined) return condition.select;
  }
  return (client.options as TemplateOptions).db;
}

/** Where the user's client would give up, ours goes on: nobody else could connect it again. */
function untiring(strategy: RetryStrategy | null | undefined): RetryStrategy {
  return (attempt, ...reason) => {
    const delay = strategy?.(attempt, ...reason);
    return typeof delay === 'number' ? delay : Math.min(attempt * 50, 2_000);
  };
}

/** ioredis may name options that nobody has set. */
function given(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
