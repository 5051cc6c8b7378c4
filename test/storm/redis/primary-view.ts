import type { Redis } from 'ioredis';
import type { RedisServer } from '../../support/redis-server.js';
import type { PrimaryAndReplica } from './primary-and-replica.js';

/** Reads from the primary itself, past the proxy. */
export class PrimaryView {
  readonly #clients = new Map<RedisServer, Redis>();
  /** Number of successful reads. */
  looks = 0;

  constructor(private readonly servers: PrimaryAndReplica) {}

  /** The answer of the primary; `undefined` without one, or where it was not the primary all the time. */
  async read<T>(ask: (redis: Redis) => Promise<T>): Promise<T | undefined> {
    const { servers } = this;
    const { epoch, primary, isChanging } = servers;
    if (isChanging) return undefined;
    const answer = await ask(this.#client(primary)).catch(() => undefined); // it is frozen, or busy
    if (servers.isChanging || servers.epoch !== epoch) return undefined;
    if (answer !== undefined) this.looks += 1;
    return answer;
  }

  #client(server: RedisServer): Redis {
    const known = this.#clients.get(server);
    if (known) return known;
    const client = server.client({ commandTimeout: 1_000, maxRetriesPerRequest: 1 });
    this.#clients.set(server, client);
    return client;
  }
}
