import type { NodeRedis } from '../../../lib/redis/node-redis/node-redis.js';
import { byNodeRedis } from '../../support/redis-client.js';
import { RedisCluster } from '../../support/redis-cluster.js';
import { RedisSentinel } from '../../support/redis-sentinel.js';
import { RedisServer } from '../../support/redis-server.js';
import type { RedisBackend } from './redis.js';

/**
 * Settings of servers that know after a kill all that they have answered: they write each change before its reply, which
 * with the default `everysec` may wait for a sync to the disk.
 */
const remembering = { appendonly: 'yes', appendfsync: 'no' };

/** One server. */
export async function standaloneRedis(): Promise<RedisBackend> {
  const server = await RedisServer.start({ config: remembering });
  return {
    servers: [server],
    client: () => server.client(),
    restart: () => server.restart(),
    stop: () => server.stop(),
  };
}

/** The same, to which lock clients connect by node-redis. */
export async function overNodeRedis(
  start: () => Promise<RedisBackend>,
  redis: NodeRedis,
): Promise<RedisBackend> {
  const backend = await start();
  const connection = () => {
    const client = backend.client();
    client.disconnect();
    return byNodeRedis(redis, client);
  };
  return { ...backend, connection };
}

/** Three masters with a replica each, which do not take over while a test freezes their master. */
export async function clusterRedis(): Promise<RedisBackend> {
  const cluster = await RedisCluster.start({ nodeTimeout: 5_000, config: remembering });
  return {
    servers: cluster.servers,
    client: () => cluster.client(),
    restart: () => cluster.restart(),
    stop: () => cluster.stop(),
  };
}

/** A master behind sentinels, whose replica does not take over while a test freezes it. */
export async function sentinelRedis(): Promise<RedisBackend> {
  const sentinel = await RedisSentinel.start({ downAfter: 10_000, config: remembering });
  return {
    servers: sentinel.servers,
    client: () => sentinel.client(),
    restart: () => sentinel.restart(),
    stop: () => sentinel.stop(),
  };
}

/** Servers that know nothing of each other. */
export interface IndependentRedis {
  readonly servers: readonly RedisServer[];
  stop(): Promise<unknown>;
}

/** So many of them. */
export async function independentRedis(count: number): Promise<IndependentRedis> {
  const start = () => RedisServer.start({ config: remembering });
  const servers = await Promise.all(Array.from({ length: count }, start));
  return { servers, stop: () => Promise.all(servers.map((server) => server.stop())) };
}
