import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { eventually } from '../../support/eventually.js';
import type { CommandLog } from './command-log.js';
import type { PrimaryAndReplica } from './primary-and-replica.js';
import { UnrulyConnection } from './unruly-connection.js';

const LONGEST_LATE = 8_000;
const REPLAYED = 0.5;
const ARE_ANSWERED_REPLAYED = process.env.REDIS_STORM_REPLAYS !== 'unanswered';

/**
 * The name that clients know the primary by: a client that connects reaches the server that is the primary then, and stays with
 * it. For the life of its connections, see {@link UnrulyConnection}.
 */
export class UnrulyProxy {
  readonly host = '127.0.0.1';
  readonly #listener = createServer((near) => this.#accept(near));
  readonly #connections = new Set<UnrulyConnection>();
  #accepted = 0;
  #late = 0;
  #again = 0;

  private constructor(
    private readonly servers: PrimaryAndReplica,
    private readonly log: CommandLog,
    private readonly random: () => number,
  ) {}

  static async start(
    servers: PrimaryAndReplica,
    log: CommandLog,
    random: () => number,
  ): Promise<UnrulyProxy> {
    const proxy = new UnrulyProxy(servers, log, random);
    proxy.#listener.listen(0, proxy.host);
    await once(proxy.#listener, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port;
  }

  /** The connections that their clients have not given up. */
  get open(): UnrulyConnection[] {
    return [...this.#connections].filter(({ isOpen }) => isOpen);
  }

  /** How many connections it accepted, and how many commands arrived at a server late, or again. */
  get counts(): { connections: number; late: number; again: number } {
    return { connections: this.#accepted, late: this.#late, again: this.#again };
  }

  /** Ends all faults of connections; resolves when nothing is on its way to a server that its client has given up. */
  async calm(): Promise<void> {
    for (const connection of this.#connections) connection.calm();
    const givenUp = [...this.#connections].filter(({ isOpen }) => !isOpen);
    await Promise.all(givenUp.map(({ over }) => over));
  }

  /** Waits until the closed clients have ended their connections, and the last copies of commands have arrived. */
  async drained(): Promise<void> {
    await eventually('the connections are closed', () => this.open.length === 0);
    await this.calm();
  }

  /** Ends all connections and refuses new ones. */
  async stop(): Promise<void> {
    const closed = once(this.#listener, 'close');
    this.#listener.close();
    for (const connection of this.#connections) connection.destroy();
    await closed;
  }

  #accept(near: Socket): void {
    const { servers, log, random } = this;
    const server = servers.primary;
    const far = connect(server.port, server.host);
    const connection = new UnrulyConnection(near, far, {
      number: (this.#accepted += 1),
      server: servers.all.indexOf(server) + 1,
      log,
      random,
      longestLate: LONGEST_LATE,
      replayed: REPLAYED,
      areAnsweredReplayed: ARE_ANSWERED_REPLAYED,
      isPrimary: () => servers.primary === server,
    });
    this.#connections.add(connection);
    void connection.over.then(() => {
      this.#connections.delete(connection);
      this.#late += connection.late;
      this.#again += connection.again;
    });
  }
}
