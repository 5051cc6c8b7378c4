import { isRedisCluster, type RedisClient, type RedisNode } from './ioredis.js';

/** The options of a client that say where its server is. */
interface Location {
  readonly host?: string | null;
  readonly port?: number | string | null;
  readonly path?: string | null;
  readonly db?: number | string | null;
  readonly name?: string | null;
  readonly sentinels?: readonly Location[] | null;
}

/**
 * Ids of the servers, and of the database, that a client uses. Two clients that have one in common use the same locks; two that
 * have none may do so too, under other names.
 *
 * @param runId id of the process of the server, if there is only one and it is known
 */
export function serverIds(client: RedisClient, runId?: string): string[] {
  if (isRedisCluster(client)) return client.nodes('all').map(({ options }) => address(options));
  const ids = addresses(client);
  const { db } = client.options as Location;
  return runId === undefined ? ids : [...ids, `redis run ${runId}/${Number(db ?? 0)}`];
}

function addresses({ options }: RedisNode): string[] {
  const { sentinels, name, db } = options as Location;
  if (!sentinels) return [address(options)];
  return sentinels.map((sentinel) => `${address({ ...sentinel, db })} ${name}`);
}

function address({ host, port, path, db }: Location): string {
  const server = path ?? `${(host ?? 'localhost').toLowerCase()}:${Number(port ?? 6379)}`;
  return `redis ${server}/${Number(db ?? 0)}`;
}

/** The id of the process in the `INFO` of a server. */
export function runIdIn(info: string): string | undefined {
  return /^run_id:(\w+)/m.exec(info)?.[1];
}
