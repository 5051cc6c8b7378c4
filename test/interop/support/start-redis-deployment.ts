import { RedisCluster } from '../../support/redis-cluster.js';
import { RedisServer } from '../../support/redis-server.js';
import type { RedisDeployment, RedisDeploymentKind } from './redis-deployment.js';

/** Starts the servers; resolves when they are ready. */
export function startRedisDeployment(kind: RedisDeploymentKind): Promise<RedisDeployment> {
  return kind === 'standalone' ? startStandalone() : startCluster();
}

async function startStandalone(): Promise<RedisDeployment> {
  const server = await RedisServer.start();
  return {
    kind: 'standalone',
    urls: [server.url],
    masters: async () => [server],
    masterOf: async () => server,
    stop: () => server.stop(),
  };
}

async function startCluster(): Promise<RedisDeployment> {
  const cluster = await RedisCluster.start();
  return {
    kind: 'cluster',
    urls: cluster.servers.map(({ url }) => url),
    masters: async () => {
      const roles = await Promise.all(cluster.servers.map((server) => server.command('ROLE')));
      return cluster.servers.filter((_, n) => (roles[n] as string[])[0] === 'master');
    },
    masterOf: (key) => cluster.masterOf(key),
    stop: () => cluster.stop(),
  };
}
