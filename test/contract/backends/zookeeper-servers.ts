import { systemClock } from '../../../lib/core/clock.js';
import { parseConnectString, ServerList } from '../../../lib/zookeeper/connection/server-list.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import type { Session } from '../../../lib/zookeeper/connection/session.js';
import type { ZooKeeperConnection } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { endSession, expireSession } from '../../support/zookeeper-session.js';
import { eventually } from '../../support/time.js';
import { type Driver, transportOf } from '../../support/zookeeper-driver.js';
import { FaultProxy } from '../../support/zookeeper-proxy.js';
import { ZooKeeperEnsemble } from '../../support/zookeeper-ensemble.js';
import { ZooKeeperServer } from '../../support/zookeeper-server.js';
import type { ConnectionEnvironment, NetworkFaults, TestConnectionOptions } from './connection.js';
import { type Backend, SELDOM } from './zookeeper.js';

const KEEPING = { containerCheckIntervalMs: SELDOM };

/** Real servers: one, or those of an ensemble. */
export class ZooKeeperBackend implements Backend {
  #clients = 0;
  #isFrozen = false;

  constructor(
    private readonly servers: readonly ZooKeeperServer[],
    private readonly driver?: Driver,
  ) {}

  async connect() {
    const server = this.servers[this.#clients++ % this.servers.length]!;
    return {
      transport: await transportOf(this.driver),
      servers: new ServerList([server], Math.random, systemClock),
    };
  }

  async expire(session: Session): Promise<void> {
    const heard: string[] = [];
    const end = async () => {
      const others = await this.#serversWithout(session);
      const { connectString } = others[heard.length % others.length]!;
      const hasEnded = await endSession(connectString, session);
      heard.push(`${connectString}: ${hasEnded ? 'it has ended' : 'tried'}`);
      return hasEnded || (await eventually('it is known', () => !session.isAlive, { within: 100 }));
    }; // again: the driver may lose the request as it closes, and report it as done
    await eventually('the session has ended', end, { within: 10_000 }).catch((cause: Error) => {
      throw new Error(heard.join(', '), { cause });
    });
    // A reconnect of the driver's in this same turn may hear nothing: then the next one comes 5 s later.
    const knows = () => {
      if (!session.isAlive) return true;
      throw new Error(`the client believes in its session; heard: ${heard.join(', ')}`);
    };
    await eventually('its client knows of the end', knows, { within: 20_000 });
  }

  /**
   * Those to which its client has no connection, if there are several: a follower on which another connection closes the session
   * leaves that of the client open, and answers even its `sync`.
   */
  async #serversWithout({ id }: Session): Promise<readonly ZooKeeperServer[]> {
    if (this.servers.length === 1) return this.servers;
    const connections = await Promise.all(this.servers.map((each) => each.fourLetterWord('cons')));
    const sid = `sid=0x${BigInt(`0x${id}`).toString(16)},`;
    const others = this.servers.filter((_, i) => !connections[i]!.includes(sid));
    return others.length > 0 ? others : this.servers; // a server may name a connection for seconds after its end
  }

  freeze(): void {
    this.#isFrozen = true;
    for (const server of this.servers) server.freeze();
  }

  thaw(): void {
    this.#isFrozen = false;
    for (const server of this.servers) server.thaw();
  }

  /** Without a majority an ensemble answers nothing, so one of its servers goes on; but if frozen it would keep its connections. */
  async kill(): Promise<void> {
    const killed = this.servers.slice(this.servers.length > 1 && !this.#isFrozen ? 1 : 0);
    this.#isFrozen = false;
    await Promise.all(killed.map((server) => server.kill()));
  }

  async restart(): Promise<void> {
    const killed = this.servers.filter((server) => !server.running);
    await Promise.all(killed.map((server) => server.restart()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }
}

/** One server, which keeps the directories that tests leave. */
export async function standaloneZooKeeper(driver?: Driver): Promise<ZooKeeperBackend> {
  return new ZooKeeperBackend([await ZooKeeperServer.start(KEEPING)], driver);
}

/** Three servers, the clients of which are on different ones. */
export async function ensembleOfZooKeepers(driver?: Driver): Promise<ZooKeeperBackend> {
  const { servers } = await ZooKeeperEnsemble.start(KEEPING);
  return new ZooKeeperBackend(servers, driver);
}

/** A real server, with a proxy for each client. */
export class StandaloneEnvironment implements ConnectionEnvironment {
  readonly #connections: ZooKeeperConnection[] = [];
  readonly #proxies: FaultProxy[] = [];

  private constructor(
    private readonly server: ZooKeeperServer,
    private readonly driver?: Driver,
  ) {}

  static async start(driver?: Driver): Promise<StandaloneEnvironment> {
    return new StandaloneEnvironment(
      await ZooKeeperServer.start({ containerCheckIntervalMs: 200 }),
      driver,
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
      transport: await transportOf(this.driver),
      servers: new ServerList(servers, Math.random, systemClock),
      sessionTimeout,
      tickTime: 500,
      clock: systemClock,
      auth,
    });
    this.#connections.push(connection);
    return connection;
  }
}
