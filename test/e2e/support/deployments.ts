import type { LockModuleOptions } from '../../../lib/index.js';
import { useShared } from '../../support/fixtures.js';
import { IndependentRedisServers, RedisServer } from '../../support/redis-server.js';
import { ZooKeeperServer } from '../../support/zookeeper-server.js';

/** Where an app has its locks; `several redis` are three servers that know nothing of each other. */
export type Backend = 'embedded' | 'zookeeper' | 'redis' | 'several redis';

/** The lock servers of some apps, if they need any. */
export class Deployment {
  private constructor(
    readonly backend: Backend,
    private readonly servers: readonly (ZooKeeperServer | RedisServer)[],
    private readonly connect: object = {},
  ) {}

  static async start(backend: Backend): Promise<Deployment> {
    if (backend === 'zookeeper') {
      const server = await ZooKeeperServer.start();
      return new Deployment(backend, [server], { backend, connect: server.connectString });
    }
    if (backend === 'redis') {
      const server = await RedisServer.start();
      return new Deployment(backend, [server], { backend, connect: server.url });
    }
    if (backend === 'several redis') {
      const { all, nodes } = await IndependentRedisServers.start(3);
      return new Deployment(backend, all, { backend: 'redis', nodes });
    }
    return new Deployment(backend, []);
  }

  /** @param timeout how long a client keeps its locks without an answer, in ms; default: as long as clients of users do */
  options(timeout?: number): LockModuleOptions {
    const name = this.backend === 'zookeeper' ? 'sessionTimeout' : 'watchdogTimeout';
    return timeout === undefined ? this.connect : { ...this.connect, [name]: timeout };
  }

  freeze(): void {
    for (const server of this.servers) server.freeze();
  }

  thaw(): void {
    for (const server of this.servers) server.thaw();
  }

  /** Forgets all locks, where the backend is Redis. */
  async wipe(): Promise<void> {
    for (const server of this.servers)
      if (server instanceof RedisServer) await server.command('FLUSHALL');
  }

  async kill(...numbers: readonly number[]): Promise<void> {
    const victims = this.servers.filter((_, i) => numbers.includes(i));
    await Promise.all(victims.map((server) => server.kill()));
  }

  /** Starts those that do not run. */
  async restore(): Promise<void> {
    this.thaw();
    await Promise.all(
      this.servers.filter(({ running }) => !running).map((server) => server.restart()),
    );
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }
}

/** Is there from the first to the last test of the surrounding `describe`. */
export const useDeployment = (backend: Backend) => useShared(() => Deployment.start(backend));
