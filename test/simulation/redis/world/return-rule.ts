import type { RedisWorld } from './redis-world.js';

/** Fields of a lock that are no holders. */
const OTHERS = new Set(['mode', 'nestjs-interlock']);

/**
 * A holder that was released never comes back to the server, however late a copy of its acquire arrives. It may where its lease
 * has run out: the copy may come before anything else does.
 */
export class ReturnRule {
  /** The holders on the server with the ends of their leases, by the key of the lock. */
  readonly #holders = new Map<string, Map<string, number>>();
  readonly #gone = new Set<string>();

  /** @param isExcused whether an operator is about to take away the lock with that key: this leaves no mark */
  constructor(
    private readonly world: RedisWorld,
    private readonly isExcused: (key: string) => boolean,
  ) {}

  /** These keys have changed. */
  changed(keys: ReadonlySet<string>): void {
    const { keyspace } = this.world.servers;
    for (const key of keys) {
      if (key.includes(':')) continue; // it belongs to a lock, or to something else
      const entry = keyspace.entry(key);
      const before = this.#holders.get(key);
      const fields = entry?.type === 'hash' ? [...entry.value.keys()] : [];
      const holders = fields.filter((field) => !OTHERS.has(field));
      if (before && !this.isExcused(key))
        for (const [holder, end] of before)
          if (!holders.includes(holder) && end >= keyspace.now()) this.#gone.add(holder);
      for (const holder of holders)
        if (this.#gone.has(holder)) this.world.judge.accuse(`${holder} is back after its release`);
      this.#holders.set(key, new Map(holders.map((holder) => [holder, entry!.expiresAt])));
    }
  }

  /** The servers have forgotten the last changes. */
  lostData(): void {
    this.#gone.clear();
    this.#holders.clear();
  }
}
