import type { RedisConnection } from '../connection/redis-connection.js';
import { KeyScan, literally } from './key-scan.js';

/** A hash with more fields is not taken for a lock that nobody knows of. */
const MOST_FIELDS = 500;

/** Holders as clients of ours and Redisson name them. */
const HOLDER = /^[\da-f-]{36}:\d+(:write)?$/;

/** Names of locks on the servers that no process has told of: those that look like locks of ours or Redisson's. */
export class FoundLocks {
  readonly #hashes: KeyScan;
  readonly #permits: KeyScan;

  constructor(
    private readonly connection: RedisConnection,
    private readonly prefix: string,
  ) {
    const { client } = connection.settings;
    this.#hashes = new KeyScan(client, `${literally(prefix)}*`, 'hash');
    this.#permits = new KeyScan(client, `*${literally(prefix)}*:timeout`, 'zset');
  }

  /** @param most keys to look at, of each kind */
  async next(most: number): Promise<string[]> {
    if (most <= 0) return [];
    const [hashes, timeouts] = await Promise.all([
      this.#hashes.next(most),
      this.#permits.next(most),
    ]);
    const locks = await Promise.all(hashes.map((key) => this.#isLock(key)));
    const semaphores = timeouts
      .map((key) => key.slice(0, -':timeout'.length))
      .map((tagged) => /^\{([^{}]*)\}$/.exec(tagged)?.[1] ?? tagged);
    return [...hashes.filter((_, i) => locks[i]), ...semaphores].filter((name) =>
      name.startsWith(this.prefix),
    );
  }

  async #isLock(key: string): Promise<boolean> {
    const { connection } = this;
    if (Number(await connection.read('hlen', key)) > MOST_FIELDS) return false;
    const fields = (await connection.read('hkeys', key)) as string[];
    const holders = fields.filter((field) => field !== 'mode' && field !== 'nestjs-interlock');
    return holders.length > 0 && holders.every((field) => HOLDER.test(field));
  }
}
