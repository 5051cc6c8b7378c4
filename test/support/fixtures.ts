import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { RedisCluster, type RedisClusterOptions } from './redis-cluster.js';
import { RedisServer, type RedisServerOptions } from './redis-server.js';
import { RedisSentinel, type RedisSentinelOptions } from './redis-sentinel.js';
import { ZooKeeperServer, type ZooKeeperServerOptions } from './zookeeper-server.js';
import { ZooKeeperEnsemble, type ZooKeeperEnsembleOptions } from './zookeeper-ensemble.js';

/**
 * Starts what all tests of the surrounding `describe` or file share, before the first of them, and ends it after the last.
 *
 * @returns what was started, for the tests and their hooks to call
 */
export function useShared<T extends { stop(): unknown }>(start: () => Promise<T>): () => T {
  let shared: T | undefined;
  beforeAll(async () => {
    shared = await start();
  }, 180_000);
  afterAll(async () => {
    await shared?.stop();
  });
  return () => shared!;
}

/** A standalone Redis server. */
export const useRedis = (options?: RedisServerOptions) =>
  useShared(() => RedisServer.start(options));

/** A Redis Cluster: three masters with a replica each. */
export const useRedisCluster = (options?: RedisClusterOptions) =>
  useShared(() => RedisCluster.start(options));

/** A Redis master and its replica behind three sentinels. */
export const useRedisSentinel = (options?: RedisSentinelOptions) =>
  useShared(() => RedisSentinel.start(options));

/** A standalone ZooKeeper server. */
export const useZooKeeper = (options?: ZooKeeperServerOptions) =>
  useShared(() => ZooKeeperServer.start(options));

/** Three ZooKeeper servers with a leader. */
export const useZooKeeperEnsemble = (options?: ZooKeeperEnsembleOptions) =>
  useShared(() => ZooKeeperEnsemble.start(options));

/**
 * What a test opens and passes to the function that this returns is closed after that test, the last one first, also if the
 * test fails.
 */
export function useCleanup(): <T>(opened: T, close: (opened: T) => unknown) => T {
  const closings: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closings.splice(0).reverse()) await close();
  });
  return (opened, close) => {
    closings.push(() => close(opened));
    return opened;
  };
}
