import type { Clock, Timer } from '../../core/clock.js';
import { lockRenew } from '../scripts/index.js';
import { addressOfSlot, slotOf } from './cluster-slots.js';
import { isRedisCluster, type RedisArgument } from './ioredis.js';
import type { HoldMirror } from '../renewal-worker/hold-mirror.js';
import type { RedisConnection } from './redis-connection.js';
import { isPassing } from './redis-error.js';
import { firstDeadline, RenewalQueue } from './renewal-queue.js';
import { isRenewed, type Renewable, type Renewal, RenewalSchedule } from './renewal-schedule.js';

/** Delay before a failed renewal is sent again, in ms. */
const RETRY_AFTER = 100;

/** `again`: the connection has changed meanwhile; `split`: the command may succeed for a part of the holds. */
type Outcome = number[] | 'again' | 'split' | 'failed';

/**
 * Keeps the leases of one client alive, like Redisson's watchdog: each is renewed within a third of its length, many in one
 * command.
 *
 * Invariants:
 * - A hold is renewed only while it is registered: the caller removes it before it sends the release, so that no renewal
 *   outlives the hold; a reply for a hold that was removed meanwhile is dropped.
 * - A registered hold is always in the schedule, in a queue, under way or between two attempts.
 * - A renewal that fails is sent again until the deadline of the hold. Then the hold is lost, and nothing revives it.
 * - A hold that has a `period` is asked for within each, answered or not: its lease stays as it is, so nothing else is urgent.
 * - After a reconnect each hold is asked for on the new connection, as that may reach another server, or one that has
 *   forgotten it.
 */
export class Watchdog {
  readonly #schedule: RenewalSchedule;
  /** By the address of the server: one that does not answer must not hold up the others. */
  readonly #queues = new Map<string, RenewalQueue>();
  /** Ends the wait for the answer to each command that is under way. */
  readonly #underWay = new Set<() => void>();
  /** When overdue holds are looked for. */
  readonly #looks = new Set<Timer>();
  #registered = 0;

  /**
   * @param random returns numbers from 0 to below 1
   * @param mirror keeps a worker thread informed of the registered holds, and takes over what that has renewed
   */
  constructor(
    private readonly connection: RedisConnection,
    private readonly clock: Clock,
    random: () => number = Math.random,
    private readonly mirror?: HoldMirror,
  ) {
    const slot = ({ keys }: Renewable) => (connection.isCluster ? slotOf(keys[0]) : 0);
    this.#schedule = new RenewalSchedule(clock, (holds) => this.#due(holds), slot, random);
    connection.onReady(() => this.renewAll());
  }

  /** Registers the hold; to be called again when its lease was changed. */
  add(hold: Renewable): void {
    if (hold.registration === undefined) this.#registered += 1;
    if (hold.period === undefined) this.mirror?.add(hold);
    this.#schedule.add(hold);
  }

  remove(hold: Renewable): void {
    if (hold.registration === undefined) return;
    this.mirror?.remove(hold);
    this.#schedule.remove(hold);
    hold.registration = undefined;
    this.#registered -= 1;
    if (this.#registered > 0) return;
    for (const timer of this.#looks) timer.cancel();
    this.#looks.clear();
  }

  /** Takes over what a worker thread has renewed; to be called before a hold past its deadline counts as lost. */
  catchUp(): void {
    this.mirror?.catchUp();
  }

  /** Renews all holds now, or asks for them: some may be lost, or end before their turn. */
  renewAll(): void {
    this.#schedule.hasten();
    for (const sendAgain of [...this.#underWay]) sendAgain();
  }

  /**
   * Sets the lease of one hold, which need not be registered, or only checks it if the lease is 0; resolves to whether it
   * is held. Rejects as ioredis does.
   */
  async renewOne(hold: Renewal): Promise<boolean> {
    const [held] = await this.#send([hold]);
    return held === 1;
  }

  /** Renews them, and notifies those that are not renewed by half of their leases; at once, if that is over after a stall. */
  #due(holds: readonly Renewable[]): void {
    const renewals = holds.filter(isRenewed);
    const left =
      Math.max(...renewals.map(({ deadline, lease }) => deadline - lease / 2)) - this.clock.now();
    if (left <= 0) this.#findOverdue(holds);
    else {
      const look = () => {
        this.#looks.delete(timer);
        this.#findOverdue(holds);
      };
      const timer = this.clock.setTimer(look, Math.ceil(left) + 1, true); // more than half, in spite of rounding
      this.#looks.add(timer);
    }
    this.#renew(holds);
  }

  #findOverdue(holds: readonly Renewable[]): void {
    this.catchUp();
    const now = this.clock.now();
    for (const hold of holds) {
      const { registration, deadline, lease } = hold;
      const left = deadline - now;
      if (registration === undefined || registration.isOverdue || left > lease / 2 || left <= 0)
        continue;
      registration.isOverdue = true;
      hold.overdue?.();
    }
  }

  /** Sends one command for the holds as soon as their server can take it. */
  #renew(holds: readonly Renewable[]): void {
    const [first] = holds;
    if (first === undefined) return;
    const { client } = this.connection.settings;
    const server = isRedisCluster(client) ? (addressOfSlot(client, first.keys[0]) ?? '') : '';
    let queue = this.#queues.get(server);
    if (queue === undefined) {
      queue = new RenewalQueue(this.clock, (batch) => this.#attempt(batch));
      this.#queues.set(server, queue);
    }
    queue.add(holds);
  }

  async #attempt(batch: readonly Renewable[]): Promise<void> {
    const left = this.#alive(batch);
    if (left.length === 0) return;
    const sentAt = this.clock.now();
    const nextEnd = firstDeadline(left);
    const leases = left.map(({ lease }) => lease); // as sent: the lease of a hold may change meanwhile
    const outcome = await this.#within(nextEnd - sentAt, this.#send(left));
    if (Array.isArray(outcome)) return this.#apply(left, outcome, sentAt, leases);
    if (outcome === 'again') return this.#renew(left);
    if (outcome === 'split' && left.length > 1) {
      for (const hold of left) this.#renew([hold]); // one of them must not fail the others
      return;
    }
    for (const hold of left) if (hold.registration && !isRenewed(hold)) this.#schedule.add(hold);
    const renewals = left.filter(isRenewed);
    const delay = Math.min(RETRY_AFTER, nextEnd - this.clock.now());
    if (delay <= 0) return this.#renew(renewals); // now some of them are lost
    this.clock.setTimer(() => this.#renew(renewals), delay, true);
  }

  /** The holds that are still registered and before their deadline; removes those past it and calls their `expired`. */
  #alive(holds: readonly Renewable[]): readonly Renewable[] {
    const now = this.clock.now();
    return holds.filter((hold) => this.#isAlive(hold, now));
  }

  #isAlive(hold: Renewable, now: number): boolean {
    if (hold.registration === undefined) return false;
    if (now >= hold.deadline) this.catchUp();
    if (now < hold.deadline) return true;
    this.remove(hold);
    hold.expired();
    return false;
  }

  #apply(
    holds: readonly Renewable[],
    answer: readonly number[],
    sentAt: number,
    leases: readonly number[],
  ): void {
    const now = this.clock.now();
    holds.forEach((hold, i) => {
      if (!this.#isAlive(hold, now)) return;
      if (answer[i] === 1) {
        hold.renewed(sentAt, leases[i]!);
        this.#schedule.add(hold);
      } else {
        this.remove(hold);
        hold.gone();
      }
    });
  }

  async #send(holds: readonly Renewal[]): Promise<number[]> {
    const keys: string[] = [];
    const args: RedisArgument[] = [];
    for (const hold of holds) {
      const { lease, extension = 0, isExtension = false } = hold;
      const [lock, key] = hold.keys;
      keys.push(lock, key);
      args.push(hold.field, lease, hold.kind, extension, isExtension ? 1 : 0);
    }
    return (await this.connection.run(lockRenew, keys, args)) as number[];
  }

  /** The outcome of a command; `failed` if there is no answer within `ms`, or a retry may succeed. */
  async #within(ms: number, answer: Promise<number[]>): Promise<Outcome> {
    let end!: (outcome: Outcome) => void;
    const ended = new Promise<Outcome>((resolve) => (end = resolve));
    const timer = this.clock.setTimer(() => end('failed'), Math.max(0, ms), true);
    const sendAgain = () => end('again');
    this.#underWay.add(sendAgain);
    const failed = (error: unknown) =>
      isPassing(error) && !isOfSeveralKeys(error) ? 'failed' : 'split';
    try {
      return await Promise.race([answer.catch(failed), ended]);
    } finally {
      timer.cancel();
      this.#underWay.delete(sendAgain);
    }
  }
}

/**
 * Whether the server may refuse the command for having several keys: some of them have moved while their slot is migrated.
 * After many redirections, ioredis reports in its own words what the last node replied: to ask again, or to ask another node.
 */
function isOfSeveralKeys(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return /^TRYAGAIN|^Too many Cluster redirections\..* (TRYAGAIN|MOVED|ASK) /.test(error.message);
}
