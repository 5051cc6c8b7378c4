import { Bag } from '../../core/bag.js';
import type { Clock, Timer } from '../../core/clock.js';
import { lockRenew } from '../scripts/lock-renew.js';
import type { RedisConnection } from './redis-connection.js';
import { isPassing } from './redis-error.js';
import type { Renewable } from './renewable.js';
import { RenewalSchedule } from './renewal-schedule.js';
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
  readonly #registered = new Bag<Renewable>();
  readonly #due: RenewalSchedule;

  constructor(
    private readonly connection: RedisConnection,
    private readonly clock: Clock,
  ) {
    this.#due = new RenewalSchedule(clock, (holds) => this.#renew(holds));
  }

  add(hold: Renewable): void {
    hold.registration ??= { leave: this.#registered.add(hold) };
    this.#schedule(hold);
  }

  remove(hold: Renewable): void {
    hold.registration?.unschedule?.();
    hold.registration?.leave();
    hold.registration = undefined;
  }

  /** Renews all holds now: after a reconnect it may be another server, or one that has forgotten them. */
  renewAll(): void {
    for (const hold of this.#registered) hold.registration?.unschedule?.();
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

  #schedule(hold: Renewable): void {
    const { registration } = hold;
    registration?.unschedule?.();
    if (registration) registration.unschedule = this.#due.add(hold);
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
    const registered = holds.filter(({ registration }) => registration !== undefined);
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
