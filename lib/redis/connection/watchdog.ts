import type { Clock, Timer } from '../../core/clock.js';
import { SwapRemoveSet } from '../../core/internal/swap-remove-set.js';
import { sleep } from '../../core/internal/timers.js';
import { lockRenew } from '../scripts/index.js';
import { slotOf } from './cluster-slots.js';
import type { RedisConnection } from './redis-connection.js';
import { isPassing } from './redis-error.js';
import { type Renewable, RenewalSchedule } from './renewal-schedule.js';

/** Maximum number of holds in one command. */
const BATCH = 100;
/** Maximum weight of one command, unless it has a single hold: the server does nothing else meanwhile. */
const WEIGHT = 10_000;
/** Delay before a failed renewal is sent again, in ms. */
const RETRY_AFTER = 100;

/**
 * Keeps the leases of one client alive, like Redisson's watchdog: each is renewed after a third of its length, with one
 * timer for all and many in one command.
 *
 * Invariants:
 * - A hold is renewed only while it is registered: the caller removes it before it sends the release, so that no renewal
 *   outlives the hold; a reply for a hold that was removed meanwhile is dropped.
 * - A renewal that fails is sent again until the deadline of the hold. Then the hold is lost, and nothing revives it.
 */
export class Watchdog {
  readonly #registered = new SwapRemoveSet<Renewable>();
  readonly #due: RenewalSchedule;

  constructor(
    private readonly connection: RedisConnection,
    private readonly clock: Clock,
  ) {
    this.#due = new RenewalSchedule(clock, (holds) => this.#renew(holds));
    connection.onReady(() => this.#renewAll());
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

  /** Renews all holds now: after a reconnect the server may be another one, or may have lost them. */
  #renewAll(): void {
    for (const hold of this.#registered) hold.registration?.unschedule?.();
    this.#renew([...this.#registered]);
  }

  /**
   * Sets the lease of one hold, which need not be registered, or only checks it if the lease is 0; resolves to whether it
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

  /** Renews in batches; in a cluster, each batch lies within one slot. */
  #renew(holds: readonly Renewable[]): void {
    const groups = new Map<number, Renewable[]>();
    for (const hold of holds) {
      const slot = this.connection.isCluster ? slotOf(hold.keys[0]) : 0;
      const group = groups.get(slot) ?? [];
      group.push(hold);
      groups.set(slot, group);
    }
    for (const group of groups.values())
      for (const batch of batchesOf(group)) void this.#renewBatch(batch);
  }

  async #renewBatch(batch: readonly Renewable[]): Promise<void> {
    for (let left = batch; ;) {
      left = this.#alive(left);
      if (left.length === 0) return;
      const sentAt = this.clock.now();
      const nextEnd = Math.min(...left.map(({ deadline }) => deadline));
      const leases = left.map(({ lease }) => lease); // as sent: the lease of a hold may change meanwhile
      const answer = await this.#within(nextEnd - sentAt, this.#send(left));
      if (Array.isArray(answer)) return this.#apply(left, answer, sentAt, leases);
      if (answer === 'split' && left.length > 1) {
        for (const hold of left) void this.#renewBatch([hold]); // one of them must not fail the others
        return;
      }
      const end = nextEnd - this.clock.now();
      if (end > 0) await sleep(this.clock, Math.min(RETRY_AFTER, end));
    }
  }

  /** The holds that are still registered and before their deadline; removes those past it and calls their `expired`. */
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
    const args = holds.flatMap(({ field, lease, kind, extension = 0, isExtension = false }) => [
      field,
      lease,
      kind,
      extension,
      isExtension ? 1 : 0,
    ]);
    return (await this.connection.run(lockRenew, keys, args)) as number[];
  }

  /**
   * Resolves to the reply; to `undefined` if there is none in time, or a retry may succeed; to `split` if the command may
   * succeed for a part of the holds.
   */
  async #within(ms: number, answer: Promise<number[]>): Promise<number[] | 'split' | undefined> {
    let timer: Timer | undefined;
    const expired = new Promise<undefined>((resolve) => {
      timer = this.clock.setTimer(() => resolve(undefined), Math.max(0, ms), true);
    });
    try {
      const failed = (error: unknown) =>
        isPassing(error) && !isOfSeveralKeys(error) ? undefined : 'split';
      return await Promise.race([answer.catch(failed), expired]);
    } finally {
      timer?.cancel();
    }
  }
}

function batchesOf(holds: readonly Renewable[]): Renewable[][] {
  const batches: Renewable[][] = [];
  let weight = Infinity;
  for (const hold of holds) {
    weight += weightOf(hold);
    const last = batches.at(-1);
    if (last && last.length < BATCH && weight <= WEIGHT) last.push(hold);
    else {
      batches.push([hold]);
      weight = weightOf(hold);
    }
  }
  return batches;
}

/** Number of permits of the hold, else 1: each permit is checked and set separately. */
function weightOf({ kind, field }: Renewable): number {
  return kind === 'permits' && Buffer.isBuffer(field) ? field.readUInt32BE(12) : 1;
}

/**
 * Whether the server may refuse the command for having several keys: some of them have moved while their slot is migrated.
 * After many redirections, ioredis reports in its own words what the last node replied: to ask again, or to ask another node.
 */
function isOfSeveralKeys(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return /^TRYAGAIN|^Too many Cluster redirections\..* (TRYAGAIN|MOVED|ASK) /.test(error.message);
}
