import type { Clock } from '../../../lib/core/clock.js';
import type { EmbeddedServer } from '../../../lib/embedded/embedded-server.js';
import { EmbeddedTransport } from '../../../lib/embedded/embedded-transport.js';
import type { Servers } from '../../../lib/zookeeper/connection/server-list.js';
import type {
  LinkListener,
  OpenOptions,
  Transport,
  TransportLink,
} from '../../../lib/zookeeper/connection/transport.js';
import type { Dice } from '../dice.js';
import { Follower } from './follower.js';

/** The servers of an ensemble, in the order in which one client tries them. */
export interface ClientServers extends Servers {
  /** The server that it tried last, if that is a follower. */
  follower?: Follower;
}

/** A leader and two followers; clients connect to all of them. */
export class Ensemble implements Transport {
  readonly followers: readonly Follower[];
  readonly #servers: readonly Transport[];
  /** The share of a requested session timeout that each server grants. */
  readonly #shares: number[];

  constructor(leader: EmbeddedServer, clock: Clock) {
    const leading = new EmbeddedTransport(leader, (flush) => void clock.setTimer(flush, 0));
    this.followers = [new Follower(leader, clock), new Follower(leader, clock)];
    this.#servers = [leading, ...this.followers];
    this.#shares = this.#servers.map(() => 1);
  }

  /** The servers for one client, which tries them in random order. */
  servers(dice: Dice): ClientServers {
    const last = this.#servers.length - 1;
    const servers: ClientServers = {
      size: this.#servers.length,
      next: async () => {
        const port = dice.integer(0, last);
        servers.follower = this.followers[port - 1];
        return { host: 'ensemble', port };
      },
    };
    return servers;
  }

  /** From now on, that server grants that share of a requested timeout. */
  configure(server: number, share: number): void {
    this.#shares[server % this.#shares.length] = share;
  }

  open(options: OpenOptions, listener: LinkListener): TransportLink {
    const { port } = options.address;
    const sessionTimeout = options.sessionTimeout * this.#shares[port]!;
    return this.#servers[port]!.open({ ...options, sessionTimeout }, listener);
  }

  async close(): Promise<void> {}

  /** Number of watches set on the followers. */
  get watchCount(): number {
    return this.followers.reduce((sum, { tree }) => sum + tree.watchCount, 0);
  }
}
