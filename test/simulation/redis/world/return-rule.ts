import type { RedisWorld } from './redis-world.js';
import type { Standing } from './standings.js';

/**
 * A holder that was released never comes back to the server, nor does a waiter that has left its queue, however late a copy of
 * an acquire arrives. It may where its lease has run out, or it counted as dead: the copy may come before anything else does.
 */
export class ReturnRule {
  readonly #gone = new Set<string>();

  constructor(private readonly world: RedisWorld) {}

  /** @param isExcused whether an operator is about to take away the lock: this leaves no mark */
  changed(key: string, before: Standing, after: Standing, isExcused: boolean): void {
    const now = this.world.servers.keyspace.now();
    const isThere = (one: string) => after.holders.has(one) || after.queue.has(one);
    if (!isExcused)
      for (const [one, end] of [...before.queue, ...before.holders])
        if (!isThere(one) && end > now) this.#gone.add(`${key} ${one}`);
    for (const one of [...after.holders.keys(), ...after.queue.keys()])
      if (this.#gone.has(`${key} ${one}`))
        this.world.judge.accuse(`${one} is back after its release`);
  }

  /** The servers have forgotten the last changes. */
  lostData(): void {
    this.#gone.clear();
  }
}
