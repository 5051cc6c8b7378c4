import type { RedisWorld } from './redis-world.js';
import type { Standing } from './standings.js';

/** Fair locks and fair semaphores serve their waiters in the order in which these came to the server. */
export class OrderRule {
  /** Those that wait, by the key of the lock. */
  readonly #arrived = new Map<string, string[]>();

  constructor(private readonly world: RedisWorld) {}

  changed(key: string, before: Standing, after: Standing): void {
    const arrived = this.#arrived.get(key) ?? [];
    const isWaiting = (one: string) => after.queue.has(one); // the dead have been removed
    for (const holder of after.holders.keys()) {
      if (before.holders.has(holder)) continue;
      const place = arrived.indexOf(holder);
      const ahead = arrived.slice(0, place < 0 ? undefined : place).find(isWaiting);
      if (ahead) this.world.judge.accuse(`${holder} is served before ${ahead}, which came first`);
    }
    const known = new Set(arrived);
    const newcomers = [...after.queue.keys()].filter((one) => !known.has(one));
    this.#arrived.set(key, [...arrived.filter(isWaiting), ...newcomers]);
  }

  /** The servers have forgotten the last changes: those that are forgotten come anew. */
  lostData(): void {
    this.#arrived.clear();
  }
}
