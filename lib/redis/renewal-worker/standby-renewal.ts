import type { Clock, Timer } from '../../core/clock.js';
import { inTurns } from '../../core/internal/timers.js';
import type { RedisConnection } from '../connection/redis-connection.js';
import type { Registration, Renewable } from '../connection/renewal-schedule.js';
import { Watchdog } from '../connection/watchdog.js';
import { driftAdjustedDeadline } from '../locks/redis-grant.js';
import type { Confirmations, HoldCopy, MirrorMessage } from './messages.js';
import { beatOf, type SignOfLife } from '../../core/worker/sign-of-life.js';

/** Parts of a {@link StandbyRenewal}. Times are in ms, by the clock of the main thread. */
export interface StandbySettings {
  readonly clock: Clock;
  readonly sign: SignOfLife;
  readonly watchdogTimeout: number;
  readonly maxStall: number;
  /** Makes a connection, which connects by itself. */
  readonly open: () => Promise<RedisConnection>;
  /** Receives the renewals that the server has confirmed. */
  readonly confirm: (renewals: Confirmations) => void;
  /** Receives the error if no connection could be made. */
  readonly failed: (error: unknown) => void;
}

/**
 * Renews the holds of the main thread while that shows no sign of life, in a thread of its own.
 *
 * It takes over when the last sign is a sixth of the shortest lease old, or of the `watchdogTimeout` if that is shorter, and stands by
 * again at the next one. By the rule of the `Watchdog` a lease then has half of its length left, unless the main thread has had
 * trouble with its connection. Leases of less than eight beats may run out first: a sign is not missed before two of them.
 *
 * Invariants:
 * - While the main thread lives it sends nothing.
 * - When the last sign is older than `maxStall` it sends nothing either, and has closed its connection, as the driver may send
 *   again what was not answered: so a process that hangs keeps its locks for no longer than `maxStall` and a lease.
 * - It renews nothing whose lease must have run out: after a pause of the whole process, it leaves that to the main thread.
 * - Whatever it renews by mistake, after a release or a loss that it has not heard of, is found under the unique id of the holder
 *   or not at all, and is not kept up again.
 */
export class StandbyRenewal {
  readonly #holds = new Map<number, MirroredHold>();
  readonly #beat: number;
  #connection?: RedisConnection | undefined;
  #watchdog?: Watchdog | undefined;
  #isRenewing = false;
  #isOpening = false;
  #isCutOff = false;
  #looking?: Timer | undefined;
  #confirmed: number[] = [];

  constructor(private readonly settings: StandbySettings) {
    this.#beat = beatOf(settings.watchdogTimeout);
    void this.#open();
  }

  /** Adds or removes a hold. */
  receive(message: MirrorMessage): void {
    this.#standBy(); // the main thread lives
    if (typeof message === 'number') return this.#remove(message);
    this.#remove(message.id);
    this.#holds.set(message.id, this.#mirrored(message));
    this.#lookLater();
  }

  #mirrored(copy: HoldCopy): MirroredHold {
    const { clock } = this.settings;
    const hold = new MirroredHold(copy, {
      isOver: () => this.#isOver,
      renewed: (sentAt, lease) => this.#confirm([copy.id, sentAt, lease, copy.extension]),
      gone: () => this.#remove(copy.id),
    });
    if (copy.endsAt === Infinity) return hold;
    const end = () => this.#remove(copy.id);
    hold.endOfHold = clock.setTimer(end, Math.max(0, copy.endsAt - clock.now()), true);
    return hold;
  }

  #remove(id: number): void {
    const hold = this.#holds.get(id);
    if (hold === undefined) return;
    hold.endOfHold?.cancel();
    this.#watchdog?.remove(hold);
    this.#holds.delete(id);
  }

  #lookLater(): void {
    if (this.#looking !== undefined || this.#holds.size === 0) return;
    const look = () => {
      this.#looking = undefined;
      this.#look();
      this.#lookLater();
    };
    this.#looking = this.settings.clock.setTimer(look, this.#beat, true);
  }

  /** For how long there was no sign of life. */
  get #silence(): number {
    return this.settings.clock.now() - this.settings.sign.at;
  }

  get #isOver(): boolean {
    return this.#silence > this.settings.maxStall;
  }

  #look(): void {
    if (this.#isOver) return this.#cutOff();
    if (this.#isCutOff) void this.#open();
    const silence = this.#silence; // most looks need not know the shortest lease
    if (silence < 2 * this.#beat || silence < this.#shortestLease / 6) return this.#standBy();
    this.#renew();
  }

  get #shortestLease(): number {
    let shortest = this.settings.watchdogTimeout;
    for (const { lease } of this.#holds.values()) shortest = Math.min(shortest, lease);
    return shortest;
  }

  #renew(): void {
    const watchdog = this.#watchdog;
    if (this.#isRenewing || watchdog === undefined) return;
    this.#isRenewing = true;
    const { clock, sign } = this.settings;
    const lastRenewal = sign.at + this.#beat; // the main thread may have sent one until then
    void inTurns([...this.#holds.values()], (hold) => {
      if (!this.#isRenewing || this.#holds.get(hold.id) !== hold) return;
      const latest = driftAdjustedDeadline(lastRenewal, hold.lease);
      hold.safeUntil = Math.min(clock.now() + hold.lease / 2, latest);
      watchdog.add(hold);
    });
  }

  #standBy(): void {
    if (!this.#isRenewing) return;
    this.#isRenewing = false;
    for (const hold of this.#holds.values()) this.#watchdog?.remove(hold);
  }

  #cutOff(): void {
    this.#isCutOff = true;
    this.#standBy();
    this.#connection?.close();
    this.#connection = this.#watchdog = undefined;
  }

  async #open(): Promise<void> {
    this.#isCutOff = false;
    if (this.#isOpening) return;
    this.#isOpening = true;
    try {
      const connection = await this.settings.open();
      if (this.#isCutOff) return connection.close();
      this.#connection = connection;
      this.#watchdog = new Watchdog(connection, this.settings.clock);
    } catch (error) {
      this.settings.failed(error);
    } finally {
      this.#isOpening = false;
    }
  }

  /** Those of one command go together. */
  #confirm(numbers: readonly number[]): void {
    if (this.#confirmed.length === 0)
      queueMicrotask(() => this.settings.confirm(this.#confirmed.splice(0)));
    this.#confirmed.push(...numbers);
  }
}

/** A hold of the main thread, as far as it has to be renewed. */
class MirroredHold implements Renewable {
  readonly id: number;
  readonly keys: readonly [string, string];
  readonly field: string | Buffer;
  readonly kind: Renewable['kind'];
  readonly lease: number;
  readonly extension: number;
  registration?: Registration;
  endOfHold?: Timer;
  /** Set anew at each stall: until then the main thread renews it. */
  safeUntil = -Infinity;
  readonly gone: () => void;

  constructor(
    { id, keys, field, kind, lease, extension }: HoldCopy,
    private readonly when: Pick<Renewable, 'renewed' | 'gone'> & { isOver(): boolean },
  ) {
    this.id = id;
    this.keys = keys;
    this.field = typeof field === 'string' ? field : Buffer.from(field);
    this.kind = kind;
    this.lease = lease;
    this.extension = extension;
    this.gone = when.gone;
  }

  /** Asked for before each command: when `maxStall` is over none is sent, even if this thread was late to notice. */
  get deadline(): number {
    return this.when.isOver() ? -Infinity : this.safeUntil;
  }

  renewed(sentAt: number, lease: number): void {
    this.safeUntil = driftAdjustedDeadline(sentAt, lease);
    this.when.renewed(sentAt, lease);
  }

  /** The main thread finds it lost, unless it has renewed it itself. */
  expired(): void {}
}
