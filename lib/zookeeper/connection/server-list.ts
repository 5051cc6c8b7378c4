import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { ServerAddress } from './server-address.js';

/** Where to connect to next. */
export interface Servers {
  /** How many attempts make a round: within the first, no back-off is needed. */
  readonly size: number;
  /** The next address; rejects when a name cannot be resolved. */
  next(): Promise<ServerAddress>;
}

/**
 * Goes round a list of servers in random order, so that clients spread over the ensemble.
 *
 * Names are resolved here, anew in every round and without blocking: the driver would do it on every socket event, and
 * synchronously. It only ever sees numeric addresses. A name with several addresses counts as several servers.
 */
export class ServerList implements Servers {
  #round: ServerAddress[] = [];
  #lastOfRound?: ServerAddress;
  /** Questions to the name service that have no answer yet: one that hangs is asked once, lest it takes up all threads. */
  readonly #asked = new Map<string, Promise<LookupAddress[]>>();

  constructor(
    private readonly servers: readonly ServerAddress[],
    private readonly random: () => number,
    private readonly resolve: typeof lookup = lookup,
  ) {}

  get size(): number {
    return this.servers.length;
  }

  async next(): Promise<ServerAddress> {
    if (this.#round.length === 0) this.#round = this.#shuffled();
    const server = this.#round.shift()!;
    if (isIP(server.host)) return server;
    const [first, ...others] = (await this.#lookup(server.host)).map(({ address }) => ({
      host: address,
      port: server.port,
    }));
    this.#round.unshift(...others);
    return first!;
  }

  #lookup(host: string): Promise<LookupAddress[]> {
    const asked = this.#asked.get(host);
    if (asked) return asked;
    const answer = this.resolve(host, { all: true }).finally(() => this.#asked.delete(host));
    this.#asked.set(host, answer);
    return answer;
  }

  #shuffled(): ServerAddress[] {
    const ranked = this.servers.map((server) => ({ server, rank: this.random() }));
    const round = ranked.sort((a, b) => a.rank - b.rank).map(({ server }) => server);
    // It may be the one that we have just lost: all others come before it is tried again.
    if (round[0] === this.#lastOfRound) round.push(round.shift()!);
    this.#lastOfRound = round.at(-1);
    return round;
  }
}
