import { systemClock } from '../../../lib/core/clock.js';
import {
  EmbeddedServer,
  type EmbeddedServerOptions,
} from '../../../lib/embedded/embedded-server.js';
import { embeddedServers, EmbeddedTransport } from '../../../lib/embedded/embedded-transport.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import type { Session } from '../../../lib/zookeeper/connection/session.js';
import type { Transport } from '../../../lib/zookeeper/connection/transport.js';
import type { ZooKeeperConnection } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { FaultyTransport } from '../../support/transports.js';
import type { ConnectionEnvironment, NetworkFaults, TestConnectionOptions } from './connection.js';
import { type Backend, SELDOM } from './zookeeper.js';

const NOBODY = {
  onConnected: () => {},
  onDisconnected: () => {},
  onExpired: () => {},
  onWatch: () => {},
};

/** An embedded tree, in real time. */
export class EmbeddedBackend implements Backend {
  readonly #server: EmbeddedServer;

  constructor(options: EmbeddedServerOptions = { containerInterval: SELDOM }) {
    this.#server = new EmbeddedServer(options);
  }

  async connect() {
    return { transport: new EmbeddedTransport(this.#server), servers: embeddedServers };
  }

  async expire({ id }: Session): Promise<void> {
    this.#server.expire(id);
  }

  freeze(): void {
    this.#server.freeze();
  }

  thaw(): void {
    this.#server.thaw();
  }

  async kill(sessions: readonly Session[]): Promise<void> {
    this.freeze();
    for (const session of sessions) this.#hangUp(session);
  }

  async restart(): Promise<void> {
    this.thaw();
  }

  async stop(): Promise<void> {}

  /** A session has one connection: a client that attaches to it ends the one before. */
  #hangUp(credentials: Session): void {
    const address = { host: 'embedded', port: 0 };
    this.#server.connect({ address, credentials, sessionTimeout: Infinity, auth: [] }, NOBODY);
  }
}

/** An embedded server, in real time. */
export class EmbeddedEnvironment implements ConnectionEnvironment {
  readonly #server: EmbeddedServer;
  readonly #connections: ZooKeeperConnection[] = [];

  constructor(options: EmbeddedServerOptions = {}) {
    this.#server = new EmbeddedServer(options);
  }

  async connection(options?: TestConnectionOptions): Promise<ZooKeeperConnection> {
    return this.#connect(new EmbeddedTransport(this.#server), options);
  }

  async faultyConnection(
    options?: TestConnectionOptions,
  ): Promise<{ connection: ZooKeeperConnection; network: NetworkFaults }> {
    const transport = new FaultyTransport(new EmbeddedTransport(this.#server), systemClock);
    const network: NetworkFaults = {
      cut: () => transport.cut(),
      cutAt: (path, when) =>
        transport.once(
          when === 'before' ? 'lost' : 'unanswered',
          (request) => request.path === path,
        ),
      refuse: () => void (transport.isRefusing = true),
      accept: async () => void (transport.isRefusing = false),
      silence: () => transport.partition(),
      restore: () => transport.heal(),
    };
    return { connection: this.#connect(transport, options), network };
  }

  async expire({ session }: ZooKeeperConnection): Promise<void> {
    this.#server.expire(session!.id);
  }

  collectContainers(): void {
    this.#server.collectContainers();
  }

  async stop(): Promise<void> {
    for (const connection of this.#connections) void connection.close();
  }

  #connect(transport: Transport, options: TestConnectionOptions = {}): ZooKeeperConnection {
    const { sessionTimeout = 10_000, auth } = options;
    const clock = systemClock;
    const servers = embeddedServers;
    const connection = new SessionConnection({ transport, servers, sessionTimeout, clock, auth });
    this.#connections.push(connection);
    return connection;
  }
}
