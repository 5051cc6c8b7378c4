import type { Clock, Timer } from '../../core/clock.js';
import { lockRenew } from '../scripts/lock-renew.js';
import type { RedisConnection } from './redis-connection.js';
import { isPassing } from './redis-error.js';
import type { Renewable } from './renewable.js';
import { slotOf } from './slot-of.js';

/** Holds in one command. */
const BATCH = 100;
/** Delay before a renewal that failed is sent again, in ms. */
const RETRY_AFTER = 100;

/**
 * Keeps the leases of one client alive, as Redisson's watchdog: each is renewed after a third of it, by one timer for all,
 * many in one command.
 *
 * Invariants:
 * - A hold is renewed only while it is registered: the caller removes it before it sends the release, so that no renewal
 *   outlives the hold; an answer for a hold that was removed meanwhile is dropped.
 * - A renewal that fails is sent again until the deadline of the hold. Then the hold is lost, and nothing revives it.
 */
export class Renewal {
  /** Who is to be renewed at which time. */
  readonly #due = new Map<number, Set<Renewable>>();
  readonly #timeOf = new Map<Renewable, number>();
  readonly #registered = new Set<Renewable>();
  #timer?: Timer;
  #timerAt = Infinity;

  constructor(
    private readonly connection: RedisConnection,
    private readonly clock: Clock,
  ) {}

  add(hold: Renewable): void {
    this.#registered.add(hold);
    this.#schedule(hold);
  }

  remove(hold: Renewable): void {
    this.#registered.delete(hold);
    this.#unschedule(hold);
  }

  /** Renews all holds now: after a reconnect it may be another server, or one that has forgotten them. */
  renewAll(): void {
    for (const hold of this.#registered) this.#unschedule(hold);
    this.#renew([...this.#registered]);
  }

  /**
   * Sets the lease of one hold, which need not be registered, or with a lease of 0 only asks for it; resolves to whether it
   * is held. Rejects as ioredis does.
   */
  async renewOne(hold: Omit<Renewable, 'deadline'>): Promise<boolean> {
    const [held] = await this.#send([hold]);
    return held === 1;
  }

  /** At times in steps, so that many go together: never later than a third of what is left of the lease. */
  #schedule(hold: Renewable): void {
    this.#unschedule(hold);
    const now = this.clock.now();
    const step = hold.lease / 30;
    const at = Math.floor((now + (hold.deadline - now) / 3) / step) * step;
    const others = this.#due.get(at) ?? new Set();
    this.#due.set(at, others.add(hold));
    this.#timeOf.set(hold, at);
    if (at < this.#timerAt) this.#arm(at);
  }

  #unschedule(hold: Renewable): void {
    const at = this.#timeOf.get(hold);
    if (at === undefined) return;
    this.#timeOf.delete(hold);
    const others = this.#due.get(at)!;
    others.delete(hold);
    if (others.size === 0) this.#due.delete(at);
    if (this.#due.size === 0) this.#arm(Infinity);
  }

  #arm(at: number): void {
    this.#timer?.cancel();
    this.#timerAt = at;
    this.#timer = undefined;
    if (at === Infinity) return;
    const delay = Math.max(0, at - this.clock.now());
    this.#timer = this.clock.setTimer(() => this.#tick(), delay, true);
  }

  #tick(): void {
    const now = this.clock.now();
    const holds: Renewable[] = [];
    for (const [at, due] of this.#due) {
      if (at > now) continue;
      this.#due.delete(at);
      for (const hold of due) this.#timeOf.delete(hold);
      holds.push(...due);
    }
    this.#arm(Math.min(Infinity, ...this.#due.keys()));
    this.#renew(holds);
  }

  /** In batches; those of a cluster each within one slot. */
  #renew(holds: readonly Renewable[]): void {
    const groups = new Map<number, Renewable[]>();
    for (const hold of holds) {
      const slot = this.connection.isCluster ? slotOf(hold.keys[0]) : 0;
      const group = groups.get(slot) ?? [];
      group.push(hold);
      groups.set(slot, group);
    }
    for (const group of groups.values())
      for (let from = 0; from < group.length; from += BATCH)
        void this.#renewBatch(group.slice(from, from + BATCH));
  }

  async #renewBatch(batch: readonly Renewable[]): Promise<void> {
    for (let left = batch; ;) {
      left = this.#alive(left);
      if (left.length === 0) return;
      const sentAt = this.clock.now();
      const nextEnd = Math.min(...left.map(({ deadline }) => deadline));
      const leases = left.map(({ lease }) => lease); // as they are sent: a hold may get another one meanwhile
      const answer = await this.#within(nextEnd - sentAt, this.#send(left));
      if (Array.isArray(answer)) return this.#apply(left, answer, sentAt, leases);
      if (answer === 'refused' && left.length > 1) {
        for (const hold of left) void this.#renewBatch([hold]); // one of them must not take the others with it
        return;
      }
      const end = nextEnd - this.clock.now();
      if (end > 0) await this.#sleep(Math.min(RETRY_AFTER, end));
    }
  }

  /** Those that are registered still, and not over; tells those that are. */
  #alive(holds: readonly Renewable[]): readonly Renewable[] {
    const now = this.clock.now();
    const registered = holds.filter((hold) => this.#registered.has(hold));
    for (const hold of registered.filter(({ deadline }) => now >= deadline)) {
      this.remove(hold);
      hold.expired();
    }
    return registered.filter(({ deadline }) => now < deadline);
  }

  #apply(
    holds: readonly Renewable[],
    answer: readonly number[],
    sentAt: number,
    leases: readonly number[],
  ): void {
    const alive = this.#alive(holds);
    holds.forEach((hold, i) => {
      if (!alive.includes(hold)) return;
      if (answer[i] === 1) {
        hold.renewed(sentAt, leases[i]!);
        this.#schedule(hold);
      } else {
        this.remove(hold);
        hold.gone();
      }
    });
  }

  async #send(holds: readonly Omit<Renewable, 'deadline'>[]): Promise<number[]> {
    const keys = holds.flatMap((hold) => hold.keys);
    const args = holds.flatMap(({ field, lease, kind }) => [field, lease, kind]);
    return (await this.connection.run(lockRenew, keys, args)) as number[];
  }

  /** The answer; `undefined` when there is none in time, or it may be another one in a moment. */
  async #within(ms: number, answer: Promise<number[]>): Promise<number[] | 'refused' | undefined> {
    let timer: Timer | undefined;
    const expired = new Promise<undefined>((resolve) => {
      timer = this.clock.setTimer(() => resolve(undefined), Math.max(0, ms), true);
    });
    try {
      const failed = (error: unknown) => (isPassing(error) ? undefined : 'refused');
      return await Promise.race([answer.catch(failed), expired]);
    } finally {
      timer?.cancel();
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.setTimer(() => resolve(), ms, true));
  }
}
