import { isRedisCluster, type RedisClient, type RedisNode } from '../connection/ioredis.js';
import type { RedisConnection } from '../connection/redis-connection.js';
import { HOLDER } from './read-lock-key.js';

/** Keys examined by one command. */
const STEP = 100;

/**
 * Iterates over the keys of all masters in rounds, a bounded part at a time, with `SCAN`, which does not block other clients.
 * A key that stays is found within one round.
 */
class KeyScan {
  #master = 0;
  #cursor = '0';

  /** @param match pattern as for `SCAN`; the prefix in it is escaped */
  constructor(
    private readonly client: RedisClient,
    private readonly match: string,
    private readonly type: 'hash' | 'zset',
  ) {}

  /** The matching keys among the next `most`, or of a whole round if there are fewer. */
  async next(most: number): Promise<string[]> {
    const found: string[] = [];
    let rounds = 0;
    for (let looked = 0; looked < most && rounds < this.#masters.length; looked += STEP) {
      const [cursor, keys] = await this.#scan(Math.min(STEP, most - looked));
      for (const key of keys) found.push(key);
      this.#cursor = cursor;
      if (cursor !== '0') continue;
      this.#master += 1;
      rounds += 1;
    }
    return found;
  }

  get #masters(): readonly RedisNode[] {
    return isRedisCluster(this.client) ? this.client.nodes('master') : [this.client];
  }

  async #scan(count: number): Promise<[string, string[]]> {
    const masters = this.#masters;
    const master = masters[this.#master % masters.length];
    if (master === undefined) return ['0', []];
    const { match, type } = this;
    const options = ['match', match, 'count', count, 'type', type];
    return (await master.call('scan', this.#cursor, ...options)) as [string, string[]];
  }
}

/** Escapes the text for a `SCAN` pattern. */
function literally(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&');
}

/** The scan does not take a hash with more fields than this for a lock. */
const MOST_FIELDS = 500;

/** Names of locks on the servers that no process reported: keys that look like locks of this library or Redisson. */
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

  /**
   * @param most maximum number of keys to examine, of each kind
   * @param known names that are not examined
   */
  async next(most: number, known: ReadonlySet<string>): Promise<string[]> {
    if (most <= 0) return [];
    const [keys, timeouts] = await Promise.all([this.#hashes.next(most), this.#permits.next(most)]);
    const hashes = keys.filter((key) => !known.has(key));
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
