import type { ObservedHold } from './observed-calls.js';
import type { RedisWorld } from './redis-world.js';

/** Guarded writes count once, and fencing tokens rise. */
export class EffectsRule {
  /** By the names of the locks. */
  readonly #tokens = new Map<string, bigint>();
  /** How many guarded writes have begun, by the keys of the locks. */
  readonly #writes = new Map<string, number>();

  constructor(private readonly world: RedisWorld) {}

  writing(key: string): void {
    this.#writes.set(key, (this.#writes.get(key) ?? 0) + 1);
  }

  /** A guarded write has counted one more. */
  wrote(key: string, count: number): void {
    const begun = this.#writes.get(key)!;
    if (count > begun) this.#accuse(`${begun} guarded writes under ${key} have counted ${count}`);
    this.world.history.note('wrote', `${key}: ${count}`);
  }

  fenced({ id, root, lock, takenAt, lease }: ObservedHold, token: bigint): void {
    const last = this.#tokens.get(lock.name.redisKey) ?? 0n;
    if (takenAt !== undefined || !lease.isHeld) return;
    if (root === id ? token <= last : token < last)
      this.#accuse(`hold ${id} has the token ${token} after ${last}`);
    this.#tokens.set(lock.name.redisKey, token);
    this.world.history.note('fenced', `${id}: ${token}`);
  }

  /** The servers have forgotten the last changes. */
  lostData(): void {
    this.#tokens.clear();
  }

  #accuse(what: string): void {
    this.world.history.accuse(what);
  }
}
