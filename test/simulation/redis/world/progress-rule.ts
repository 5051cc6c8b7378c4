import { Timing } from '../../timing.js';
import type { Request } from './observed-calls.js';
import type { AskedLock } from './observed-locks.js';
import type { RedisWorld } from './redis-world.js';

/** Asking again after a message, and the subscription before, take a few round trips, and the sleep after a failure. */
const PATIENCE = Timing.retry + 16 * Timing.latency;

/** After that time a waiter looks again that has no subscription, such as one whose channel has moved to another node. */
const DEAF = 500;

/**
 * A lock that was released is taken at once if someone waits for it. Of a lease that runs out nothing is said: waiters look again
 * when that would happen by what they were told last, which an extension or another holder may have changed since.
 */
export class ProgressRule {
  /** Since when a lock is free that someone waits for, by its title. */
  readonly #freeSince = new Map<string, number>();
  /** Those that a command has made free. */
  readonly #released = new Set<string>();

  /** Those that were free before the present command. */
  #free = new Set<string>();

  constructor(private readonly world: RedisWorld) {}

  /** A command follows. */
  expected(requests: Iterable<Request>): void {
    const free = [...requests].filter(({ lock }) => this.#isFree(lock));
    this.#free = new Set(free.map(({ lock }) => lock.title));
  }

  /** The command has changed these keys. */
  changed(keys: ReadonlySet<string>, requests: Iterable<Request>): void {
    for (const { lock } of requests) {
      const isMeant = lock.parts.some(
        ({ name: { redisKey, permitTimeouts } }) => keys.has(redisKey) || keys.has(permitTimeouts),
      );
      const wasHeld = !this.#free.has(lock.title);
      if (isMeant && wasHeld && this.#isFree(lock)) this.#released.add(lock.title);
    }
  }

  check(requests: Iterable<Request>): void {
    const wanted = new Set<string>();
    const all = [...requests];
    for (const request of all) {
      const { lock, isTry, client, abortedAt } = request;
      if (isTry || abortedAt !== undefined || client.process.isDead || !this.#isFree(lock))
        continue;
      if (all.some((other) => this.#isBehind(request, other))) continue;
      wanted.add(lock.title);
      this.#lookAt(lock, 4 * client.watchdogTimeout);
    }
    for (const titles of [this.#released, this.#freeSince])
      for (const title of titles.keys()) if (!wanted.has(title)) titles.delete(title);
  }

  /** Of one client, whoever waits for several locks or permits may come first at each of them. */
  #isBehind({ client, lock }: Request, other: Request): boolean {
    const keys = other.lock.parts.map(({ name }) => name.redisKey);
    const isOfSame = lock.parts.some(({ name }) => keys.includes(name.redisKey));
    return other.client === client && isOfSame && !this.#isFree(other.lock);
  }

  /** @param longest a lease lasts no longer, in ms */
  #lookAt({ title }: AskedLock, longest: number): void {
    const { clock, judge, lag, cluster } = this.world;
    const now = clock.now();
    const since = this.#freeSince.get(title) ?? now;
    this.#freeSince.set(title, since);
    // After a demotion, some may be subscribed at the replica.
    const patience = PATIENCE + (judge.lostDataAt > 0 ? lag : 0) + (cluster ? DEAF : 0);
    const most = patience + (this.#released.has(title) ? 0 : longest);
    // While a slot is moved, messages go to the subscribers of one node, and some commands have to wait.
    const from = Math.max(since, cluster?.movedAt ?? 0);
    if (now - from > most && judge.strictSince < since)
      judge.accuse(`${title} is free since ${since.toFixed(1)}, and its waiters are forgotten`);
  }

  #isFree(lock: AskedLock): boolean {
    return lock.isFree(this.world.servers.keyspace);
  }
}
