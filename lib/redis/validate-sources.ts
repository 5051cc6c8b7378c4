import { isClient } from './connection/ioredis.js';
import type { RedisLockOptions } from './redis-lock-options.js';

/** Throws for an option that is out of its range. */
export type RefuseOption = (option: string, value: unknown, expected: string) => never;

/** Checks where the servers are. */
export function validateSources(
  { client, connect, cluster }: Pick<RedisLockOptions, 'client' | 'connect' | 'cluster'>,
  refuse: RefuseOption,
): void {
  if (client !== undefined && !isClient(client))
    refuse('client', client, 'an ioredis Redis or Cluster');
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
