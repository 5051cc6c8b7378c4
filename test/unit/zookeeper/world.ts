import { afterEach, beforeEach } from '@jest/globals';
import { systemClock } from '../../../lib/core/clock.js';
import { LockEventEmitter } from '../../../lib/core/internal/lock-event-emitter.js';
import {
  EmbeddedServer,
  type EmbeddedServerOptions,
} from '../../../lib/embedded/embedded-server.js';
import { embeddedServers, EmbeddedTransport } from '../../../lib/embedded/embedded-transport.js';
import { RetryForever } from '../../../lib/zookeeper/connection/retry-policies.js';
import type { Servers } from '../../../lib/zookeeper/connection/server-list.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import type { Transport } from '../../../lib/zookeeper/connection/transport.js';
import type { AuthInfo } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import type { ZooKeeperLockClientSettings } from '../../../lib/zookeeper/recipe-context.js';
import { ZooKeeperLockClient } from '../../../lib/zookeeper/zookeeper-lock-client.js';
import { Client, RecordingTransport } from '../../contract/backends/zookeeper.js';
import { eventually, VirtualClock } from '../../support/time.js';
import { FaultyTransport } from '../../support/transports.js';

export { Client };

interface JoinOptions extends Partial<ZooKeeperLockClientSettings> {
  readonly sessionTimeout?: number;
  readonly tickTime?: number;
  readonly auth?: readonly AuthInfo[];
  readonly random?: () => number;
  readonly latency?: () => number;
  readonly servers?: Servers;
  /** What lies between the client and its network. */
  readonly through?: (network: Transport) => Transport;
}

/** Clients of one embedded tree over networks that may fail, in virtual time. */
export class VirtualWorld {
  readonly clock = new VirtualClock();
  readonly server: EmbeddedServer;

  constructor(options: EmbeddedServerOptions = {}) {
    this.server = new EmbeddedServer({ clock: this.clock, ...options });
  }

  /** A client with a network of its own; resolves when it is connected. */
  async join(options: JoinOptions = {}) {
    const visitor = this.arrive(options);
    await this.clock.runUntil(visitor.locks.connect());
    return visitor;
  }

  /** The same, before it connects. */
  arrive(options: JoinOptions = {}) {
    const { clock } = this;
    const { sessionTimeout = Infinity, tickTime, auth, random, latency, ...settings } = options;
    const { through = (it) => it, servers = embeddedServers, ...others } = settings;
    const embedded = new EmbeddedTransport(this.server, (flush) => clock.setTimer(flush, 0));
    const network = new FaultyTransport(embedded, clock);
    if (latency) network.latency = latency;
    const log = new RecordingTransport(through(network));
    const connection = new SessionConnection({
      transport: log,
      servers,
      sessionTimeout,
      tickTime,
      clock,
      auth,
      random,
    });
    const locks = new ZooKeeperLockClient({
      name: 'unit',
      connection,
      events: new LockEventEmitter(),
      clock,
      basePath: '/locks',
      connectTimeout: 5_000,
      wait: 'forever',
      retryPolicy: new RetryForever(50),
      nodeData: Buffer.alloc(0),
      ...others,
    });
    return { locks, connection, network, log };
  }
}

/** One of them. */
export type Visitor = Awaited<ReturnType<VirtualWorld['join']>>;

/** A client of that tree in real time; resolves when it is connected. */
export async function clientOf(
  server: EmbeddedServer,
  through = (direct: Transport): Transport => direct,
): Promise<Client> {
  const client = new Client(through(new EmbeddedTransport(server)), embeddedServers, {});
  await client.locks.connect();
  return client;
}

/** Two clients of one embedded tree in real time, new for each test. */
export class TwoClients {
  server!: EmbeddedServer;
  /** That of the first. */
  network!: FaultyTransport;
  mine!: Client;
  theirs!: Client;

  async connect(through: (direct: Transport) => Transport): Promise<void> {
    this.server = new EmbeddedServer();
    const clients = [clientOf(this.server, through), clientOf(this.server)] as const;
    [this.mine, this.theirs] = await Promise.all(clients);
  }

  /** Runs `work` while the first cannot reach the servers; resolves when it can again. */
  async away(work: () => Promise<void> = async () => {}): Promise<void> {
    await this.cutOff();
    await work();
    this.network.isRefusing = false;
    await eventually('it is back', () => this.mine.connection.isConnected);
  }

  /** Resolves when the first knows that it cannot reach the servers any more. */
  async cutOff(): Promise<void> {
    this.network.isRefusing = true;
    this.network.cut();
    await this.isAway();
  }

  async isAway(): Promise<void> {
    await eventually('it is away', () => !this.mine.connection.isConnected);
  }

  /** Resolves when all that the first has asked before, and what followed upon that so often, is answered. */
  async caughtUp(rounds = 1): Promise<void> {
    for (let round = 0; round < rounds; round++) await this.mine.connection.exists('/');
  }
}

/**
 * Connects them before each test, and closes them after it.
 *
 * @param isDirect without a network between: what is sent takes effect at once
 */
export function useTwoClients({ isDirect = false } = {}): TwoClients {
  const two = new TwoClients();
  beforeEach(() =>
    two.connect((direct) => {
      two.network = new FaultyTransport(direct, systemClock);
      return isDirect ? direct : two.network;
    }),
  );
  afterEach(() => Promise.all([two.mine.locks.close(), two.theirs.locks.close()]));
  return two;
}
