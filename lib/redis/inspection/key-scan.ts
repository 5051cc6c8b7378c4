import { isRedisCluster, type RedisClient, type RedisNode } from '../connection/ioredis.js';

/** Keys looked at with one command. */
const STEP = 100;

/**
 * Goes round the keys of all masters, a bounded part at a time, with `SCAN`, which keeps nobody else waiting. A key that stays
 * is found within one round.
 */
export class KeyScan {
  #master = 0;
  #cursor = '0';

  /** @param match as of `SCAN`; the prefix in it is taken literally */
  constructor(
    private readonly client: RedisClient,
    private readonly match: string,
    private readonly type: 'hash' | 'zset',
  ) {}

  /** The keys among the next `most`, or of a whole round if there are fewer. */
  async next(most: number): Promise<string[]> {
    const found: string[] = [];
    let rounds = 0;
    for (let looked = 0; looked < most && rounds < this.#masters.length; looked += STEP) {
      const [cursor, keys] = await this.#scan(Math.min(STEP, most - looked));
      found.push(...keys);
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

/** That text, where `SCAN` wants a pattern. */
export function literally(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&');
}
