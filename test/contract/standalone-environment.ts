import { systemClock } from '../../lib/core/clock.js';
import { parseConnectString, ServerList } from '../../lib/zookeeper/connection/server-list.js';
import { NativeTransport } from '../../lib/zookeeper/connection/native-transport.js';
import { SessionConnection } from '../../lib/zookeeper/connection/session-connection.js';
import type { ZooKeeperConnection } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import { expireSession } from '../support/expire-session.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';
import type { ConnectionEnvironment, TestConnectionOptions } from './connection-environment.js';
import type { NetworkFaults } from './network-faults.js';

/** A real server, with a proxy for each client. */
export class StandaloneEnvironment implements ConnectionEnvironment {
  readonly #connections: ZooKeeperConnection[] = [];
  readonly #proxies: FaultProxy[] = [];

  private constructor(private readonly server: ZooKeeperServer) {}

  static async start(): Promise<StandaloneEnvironment> {
    return new StandaloneEnvironment(
      await ZooKeeperServer.start({ containerCheckIntervalMs: 200 }),
    );
  }

  async connection(options?: TestConnectionOptions): Promise<ZooKeeperConnection> {
    return this.#connect(this.server.connectString, options);
  }

  async faultyConnection(
    options?: TestConnectionOptions,
  ): Promise<{ connection: ZooKeeperConnection; network: NetworkFaults }> {
    const proxy = await FaultProxy.start(this.server);
    this.#proxies.push(proxy);
    const network: NetworkFaults = {
      cut: () => proxy.cut(),
      cutAt: (path, when) => {
        const matches = (request: { path: string }) => request.path === path;
        void (when === 'before' ? proxy.cutBefore(matches) : proxy.cutAfter(matches));
      },
      refuse: () => proxy.refuse(),
      accept: () => proxy.accept(),
      silence: () => proxy.hold(),
      restore: () => proxy.release(),
    };
    return { connection: await this.#connect(proxy.connectString, options), network };
  }

  /** Attaches to the session and closes it, while its client cannot attach again. */
  async expire({ session }: ZooKeeperConnection, network: NetworkFaults): Promise<void> {
    network.refuse();
    await expireSession(this.server, session!);
    await network.accept();
  }

  /** It looks often enough by itself. */
  collectContainers(): void {}

  async stop(): Promise<void> {
    for (const proxy of this.#proxies) proxy.stop();
    for (const connection of this.#connections) void connection.close();
    await this.server.stop();
  }

  async #connect(
    connectString: string,
    { sessionTimeout = 10_000, auth }: TestConnectionOptions = {},
  ): Promise<ZooKeeperConnection> {
    const { servers } = parseConnectString(connectString);
    const connection = new SessionConnection({
      transport: await NativeTransport.load(),
      servers: new ServerList(servers, Math.random),
      sessionTimeout,
      tickTime: 500,
      clock: systemClock,
      auth,
    });
    this.#connections.push(connection);
    return connection;
  }
}
