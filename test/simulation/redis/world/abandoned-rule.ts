import { Timing } from '../../timing.js';
import type { ObservedHold } from './observed-calls.js';
import type { RedisWorld } from './redis-world.js';
import type { Standing } from './standings.js';

/** An answer or a release is under way, or is sent again. */
const PATIENCE = Timing.retry + 16 * Timing.latency;

/**
 * Who holds a lock on the server was granted it, and has not released it: what an acquire in vain has taken, of one lock or of
 * several, is given back at once, and so is what was acquired several times when the last of its leases is released. What its client
 * keeps is given back as soon as a user waits for it.
 */
export class AbandonedRule {
  /** The holders that were granted the lock, with the number of their leases, by the key of the lock. A lost one stays. */
  readonly #granted = new Map<string, number>();
  /** Since when there is a holder that was not granted the lock. */
  readonly #since = new Map<string, number>();

  constructor(private readonly world: RedisWorld) {}

  granted({ lock, lease }: ObservedHold): void {
    const one = nameOf(lock.name.redisKey, lease.holder);
    this.#granted.set(one, (this.#granted.get(one) ?? 0) + 1);
  }

  /** Before it was lost. */
  released({ lock, lease }: ObservedHold): void {
    const one = nameOf(lock.name.redisKey, lease.holder);
    this.#granted.set(one, this.#granted.get(one)! - 1);
  }

  /** @param isKept whether the lock with that key may be kept now */
  check(
    standings: Iterable<readonly [key: string, Standing]>,
    isKept: (key: string) => boolean,
  ): void {
    const { clock, servers, judge } = this.world;
    const [now, time] = [clock.now(), servers.keyspace.now()];
    if (now < judge.strictSince) return;
    const there = new Set<string>();
    for (const [key, { holders }] of standings) {
      if (isKept(key)) continue;
      for (const [holder, end] of holders) if (end >= time) there.add(nameOf(key, holder));
    }
    for (const one of there) {
      if (this.#granted.get(one)) {
        this.#since.delete(one);
        continue;
      }
      const since = this.#since.get(one) ?? now;
      this.#since.set(one, since);
      if (now - since > PATIENCE)
        judge.accuse(`${one} is on the server since ${since.toFixed(1)}, and nobody has it`);
    }
    for (const one of this.#since.keys()) if (!there.has(one)) this.#since.delete(one);
  }
}

/** A writer has a field of its own, and a holder of permits 12 bytes in common with them. */
const nameOf = (key: string, holder: string) =>
  `${key} of ${holder.replace(/:write$/, '').replace(/^([0-9a-f]{24})[0-9a-f]{8}$/, '$1')}`;
