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

function address({ db, ...server }: Location): string {
  return `redis ${hostAndPort(server)}/${Number(db ?? 0)}`;
}

function hostAndPort({ host, port, path }: Location): string {
  return path ?? `${(host ?? 'localhost').toLowerCase()}:${Number(port ?? 6379)}`;
}

/**
 * The servers of a client for an operator, without credentials: `host:port`, or the path of a socket. Of a cluster its
 * masters, behind Sentinels the name of the group and the Sentinels.
 */
export function serverAddresses(client: RedisClient): string[] {
  if (isRedisCluster(client))
    return client.nodes('master').map(({ options }) => hostAndPort(options));
  const { sentinels, name, db, ...server } = client.options as Location;
  const database = Number(db ?? 0) === 0 ? '' : `/${db}`;
  if (!sentinels) return [hostAndPort(server) + database];
  const watched = sentinels.map((each) => hostAndPort({ port: 26_379, ...each })).join(', ');
  return [`${name}${database} (Sentinels ${watched})`];
}

/** The id of the process in the `INFO` of a server. */
export function runIdIn(info: string): string | undefined {
  return /^run_id:(\w+)/m.exec(info)?.[1];
}
