import type { Clock, Timer } from '../../core/clock.js';
import { inTurns } from '../../core/internal/timers.js';
import { SwapRemoveSet } from '../../core/collections/swap-remove-set.js';

/**
 * State of a {@link Renewable} while it is registered: its place in the schedule, if it has one. It is one object for as long as
 * the hold lives: what each renewal of a million holds leaves behind, the garbage collector has to find among all of them.
 */
export interface Registration {
  group?: Group | undefined;
  index: number;
  /** Whether it was found overdue since its last renewal. */
  isOverdue?: boolean | undefined;
}

/** What a command needs to set the lease of a hold. */
export interface Renewal {
  /** As `LockCommands.renewalKeys`. */
  readonly keys: readonly [lock: string, hold: string];
  /** The field of the holder. */
  readonly field: string | Buffer;
  readonly kind: 'alone' | 'write' | 'read' | 'permits';
  /** Length of the lease, in ms; 0: only asks whether it is held. */
  readonly lease: number;
  /** How often the hold was extended: a command older than the last extension changes nothing on the server. */
  readonly extension?: number | undefined;
  /** True if the command sets the lease; a renewal only raises it. */
  readonly isExtension?: boolean | undefined;
}

/** A hold with a lease that the {@link Watchdog} keeps alive, or that it asks for. */
export interface Renewable extends Renewal {
  /** Time until which the hold is safe, by the client's clock. */
  readonly deadline: number;
  /** Time in ms within which it is asked for, time and again; its lease, which is not renewed, counts as 0 then. */
  readonly period?: number | undefined;
  /** End of its `maxHold`, by the client's clock; `Infinity` if there is none. */
  readonly endsAt?: number | undefined;
  /** Managed by the renewal. */
  registration?: Registration | undefined;
  /** The lease was set to `lease` ms by a command sent at `sentAt`. */
  renewed(sentAt: number, lease: number): void;
  /** Half of the lease is over; it was due at a third. Called once, until it is renewed. */
  overdue?(): void;
  /** The server no longer knows the hold. */
  gone(): void;
  /** The deadline has passed. */
  expired(): void;
}

/** Whether its lease is renewed, and not only asked for. */
export const isRenewed = ({ period }: Renewable): boolean => period === undefined;

/**
 * Has the watchdog ask whether the server still knows a hold whose lease is not renewed: nothing else would detect that it has
 * forgotten it, as after a failover that keeps the connections.
 *
 * Invariants:
 * - It changes no lease: it is sent with the lease 0.
 * - A server that was demoted does not confirm the hold: it refuses the script, as it refuses renewals.
 */
export class HoldCheck implements Renewable {
  readonly lease = 0;
  registration?: Registration;
  /** When the last command was sent that has confirmed the hold. */
  confirmedAt = -Infinity;

  /** @param period time within which it is asked for, in ms */
  constructor(
    private readonly hold: Pick<Renewable, 'keys' | 'field' | 'kind' | 'deadline' | 'gone'>,
    readonly period: number,
  ) {}

  get keys(): Renewable['keys'] {
    return this.hold.keys;
  }

  get field(): Renewable['field'] {
    return this.hold.field;
  }

  get kind(): Renewable['kind'] {
    return this.hold.kind;
  }

  get deadline(): number {
    return this.hold.deadline;
  }

  renewed(sentAt: number): void {
    this.confirmedAt = sentAt;
  }

  gone(): void {
    this.hold.gone();
  }

  /** The hold has a timer for that. */
  expired(): void {}
}

/** Maximum number of holds in one command. */
const MOST_HOLDS = 100;
/** Maximum weight of one command, unless it has a single hold: the server does nothing else meanwhile. */
const MOST_WEIGHT = 10_000;

/** Time in ms over which few groups are spread after a reconnect; each group adds 1 ms. */
const SHORTEST_SPREAD = 50;

/** Holds that are renewed together, by one command. Invariant: the registration of each has this group and its index. */
interface Group {
  readonly key: number;
  readonly holds: Renewable[];
  weight: number;
  /** No later than the first deadline of its holds. */
  deadline: number;
  /** When it is due; `-Infinity` once it was. */
  at: number;
  timer?: Timer;
  leave?: () => void;
}

/**
 * Schedule of the renewals of all holds.
 *
 * Those that have to be renewed at about the same time are one group, with one timer. It is due at a random moment before
 * that: so what has happened to all at once, such as the loss of a connection, does not make all of them, or all clients of a
 * server, renew at the same moments from then on.
 */
export class RenewalSchedule {
  /** The group that is being filled, by its slot and the time at which it has to be renewed. */
  readonly #open = new Map<number, Group>();
  readonly #groups = new SwapRemoveSet<Group>();

  /**
   * @param due called with the holds of a group that is due, which are no longer in the schedule
   * @param slotOf holds of different slots are in different groups
   * @param random returns numbers from 0 to below 1
   */
  constructor(
    private readonly clock: Clock,
    private readonly due: (holds: readonly Renewable[]) => void,
    private readonly slotOf: (hold: Renewable) => number,
    private readonly random: () => number,
  ) {}

  /**
   * Adds the hold, or moves it: its remaining lease counts from now.
   *
   * Invariant: the hold is due after 65 to 100 % of the first third of its remaining lease, or of its period, never later.
   */
  add(hold: Renewable): void {
    this.remove(hold);
    const now = this.clock.now();
    const { period, lease, deadline } = hold;
    const third = period ?? (deadline - now) / 3;
    const step = (period ?? lease / 3) / 10;
    const latest = Math.floor(Math.floor((now + third) / step) * step);
    const key = latest * 2 ** 14 + this.slotOf(hold);
    const weight = weightOf(hold);
    let group = this.#open.get(key);
    if (group === undefined || !hasRoom(group, weight)) {
      group = { key, holds: [], weight: 0, deadline: Infinity, at: 0 };
      this.#open.set(key, group);
      group.leave = this.#groups.add(group);
      this.#arm(group, latest - (this.random() * third) / 4);
    }
    hold.registration ??= { index: 0 };
    hold.registration.group = group;
    hold.registration.isOverdue = false;
    hold.registration.index = group.holds.push(hold) - 1;
    group.weight += weight;
    group.deadline = Math.min(group.deadline, deadline);
  }

  /** Removes the hold, if it is in the schedule. */
  remove({ registration }: Renewable): void {
    const group = registration?.group;
    if (registration === undefined || group === undefined) return;
    registration.group = undefined;
    const { holds } = group;
    const last = holds.pop()!;
    const removed = registration.index < holds.length ? holds[registration.index]! : last;
    if (removed !== last) {
      holds[registration.index] = last;
      last.registration!.index = registration.index;
    }
    group.weight -= weightOf(removed);
    if (holds.length === 0) this.#close(group);
  }

  /**
   * Makes all holds due at once, as some may be lost; but many groups not all at the same time, and at random, because many
   * clients do so too. Nothing waits for longer than a tenth of what is left until its deadline.
   */
  hasten(): void {
    const spread = SHORTEST_SPREAD + this.#groups.size;
    void inTurns(this.#groups, (group) => {
      const now = this.clock.now();
      const at = now + this.random() * Math.min(spread, Math.max(0, group.deadline - now) / 10);
      if (at < group.at) this.#arm(group, at);
    });
  }

  #arm(group: Group, at: number): void {
    group.timer?.cancel();
    group.at = at;
    const tick = () => {
      this.#close(group);
      const { holds } = group;
      for (const { registration } of holds) registration!.group = undefined;
      this.due(holds);
    };
    group.timer = this.clock.setTimer(tick, Math.max(0, at - this.clock.now()), true);
  }

  #close(group: Group): void {
    group.at = -Infinity;
    group.timer?.cancel();
    group.leave?.();
    if (this.#open.get(group.key) === group) this.#open.delete(group.key);
  }
}

function hasRoom({ holds, weight }: Group, more: number): boolean {
  return holds.length < MOST_HOLDS && weight + more <= MOST_WEIGHT;
}

/** Number of permits of the hold, else 1: each permit is checked and set separately. */
function weightOf({ kind, field }: Renewable): number {
  return kind === 'permits' && Buffer.isBuffer(field) ? field.readUInt32BE(12) : 1;
}
