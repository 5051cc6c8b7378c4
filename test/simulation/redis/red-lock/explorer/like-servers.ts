/**
 * Servers to which the same has happened, in the same order with all that it could have to do with: a run is the same if such servers
 * change their names. Of all those runs, the one is explored in which something happens to the first of them before the others.
 *
 * What has happened to each is written down: which messages it has read, and which of its answers a client has read, since that client last
 * did something. An answer that made a client do something is like no other one.
 */
export class LikeServers {
  readonly #histories: string[];
  /** Of each client: how often it has done something. */
  readonly #deeds = new Map<string, number>();
  #times = 0;
  #unlike = 0;

  /** @param areAlike otherwise they are not alike, and nothing is left out */
  constructor(
    count: number,
    private readonly areAlike: boolean,
  ) {
    this.#histories = Array.from({ length: count }, () => '');
  }

  /** Those of which no earlier one is like it. */
  mayBeNext(server: number): boolean {
    const history = this.#histories[server]!;
    return !this.areAlike || this.#histories.indexOf(history) === server;
  }

  hasRead(server: number, connection: string): void {
    this.#add(server, `reads ${connection}`);
  }

  /** An answer of it was read, and the client did nothing about it. */
  wasRead(server: number, client: string): void {
    this.#add(server, `was read by ${client} after ${this.#deeds.get(client) ?? 0}`);
  }

  /** It is not like the others any more. */
  differs(server: number): void {
    this.#add(server, `is unlike ${++this.#unlike}`);
  }

  clientActs(client: string): void {
    this.#deeds.set(client, (this.#deeds.get(client) ?? 0) + 1);
  }

  timePasses(): void {
    this.#times += 1;
  }

  #add(server: number, what: string): void {
    this.#histories[server] += `${what} at ${this.#times};`;
  }
}
