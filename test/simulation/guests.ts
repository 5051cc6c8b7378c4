import { LockLostError, LockNotHeldError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import type { SimulatedClient } from './client.js';
import type { Dice } from './dice.js';
import type { Judge } from './judge.js';
import type { LockQueue } from './lock-queue.js';
import type { SimulatedLock } from './locks.js';
import { currentOperation, type Visit } from './operation.js';
import { Company, runSchedule, type Schedule, type ScheduleOptions } from './run-schedule.js';
import type { World } from './world.js';
import { WrittenData } from './writes.js';

/** The longest that guests pause between two visits, in ms, and stay, in ms or in session timeouts. */
interface Pace {
  readonly pauses: readonly number[];
  readonly stays: readonly number[];
  readonly longStays: readonly number[];
}

const BUSY: Pace = { pauses: [0, 0, 30, 300], stays: [0, 0, 20, 50, 300], longStays: [0.5, 3] };
const QUIET: Pace = { pauses: [30, 300, 1_500], stays: [0, 0, 20, 50], longStays: [] };

/** Random schedules of the locks that `lay` creates in a world, with guests on all clients. */
export function scheduleOfLocks(
  lay: (world: World, dice: Dice) => readonly SimulatedLock[],
  {
    doWrite = false,
    guests = [1, 2],
    mayFlee = false,
    mayBeQuiet = false,
    ...options
  }: {
    /** Whether the guests change data by guarded writes: all, or a few. */
    readonly doWrite?: boolean | 'few';
    /** The fewest and the most guests of a client. */
    readonly guests?: readonly [fewest: number, most: number];
    /** Whether some guests release what they hold as soon as the connection is interrupted. */
    readonly mayFlee?: boolean;
    /** Whether in some schedules the guests come rarely, and stay briefly. */
    readonly mayBeQuiet?: boolean;
  } & Pick<ScheduleOptions, 'hasWorkers' | 'clients' | 'longestKeep'> = {},
): Schedule {
  const begin = (world: World, dice: Dice, duration: number) => {
    const locks = lay(world, dice);
    const data = doWrite ? new WrittenData(world) : undefined;
    if (data) world.observers.push(data);
    const company = new Company(world);
    const pace = mayBeQuiet && dice.chance(0.5) ? QUIET : BUSY;
    for (const client of world.clients) {
      const visitors = locks.map((lock) => new Visitor(world.judge, client, lock));
      for (let left = dice.integer(...guests); left > 0; left--) {
        const isWriter = doWrite === true || (doWrite === 'few' && dice.chance(0.2));
        const flees = mayFlee && dice.chance(0.3);
        const guest = new Guest(visitors, dice, isWriter ? data : undefined, flees, pace);
        company.add(client, guest.live(duration));
      }
    }
    return company;
  };
  return (seed) => runSchedule(seed, begin, options);
}

/** Uses locks as clients do, at random: waits and gives up, holds briefly and for long, nests, and releases in every way. */
export class Guest {
  readonly #loose = new Set<Promise<void>>();

  /** @param visitors one for each lock, all of one client */
  constructor(
    private readonly visitors: readonly Visitor[],
    private readonly dice: Dice,
    private readonly data?: WrittenData,
    /** Whether it releases what it holds as soon as the connection is interrupted. */
    private readonly flees = false,
    private readonly pace = BUSY,
  ) {}

  async live(until: number): Promise<void> {
    const { client } = this.visitors[0]!;
    while (client.closedAt === undefined && client.process.now() < until) {
      await client.sleep(this.dice.time(this.dice.pick(this.pace.pauses)));
      await this.#come(this.dice.pick(this.visitors));
    }
    while (this.#loose.size > 0) await Promise.all(this.#loose);
  }

  async #come(visitor: Visitor): Promise<void> {
    switch (
      this.dice.pick(['acquire', 'acquire', 'acquire', 'try', 'using', 'siblings'] as const)
    ) {
      case 'acquire':
        return this.#hold(visitor, await visitor.acquire(this.#wish(visitor)));
      case 'try':
        return this.#hold(visitor, await visitor.tryAcquire(this.#wish(visitor)));
      case 'using':
        return this.#use(visitor);
      case 'siblings':
        await Promise.all([this.#use(visitor), this.#use(visitor)]);
    }
  }

  async #use(visitor: Visitor, outer?: Visit): Promise<void> {
    await visitor.using((visit) => this.#stay(visitor, visit), this.#wish(visitor, outer), outer);
  }

  async #hold(visitor: Visitor, visit: Visit | undefined): Promise<void> {
    if (!visit) return;
    const stop = this.flees ? leaveWhenSuspended(visitor, visit) : () => {};
    const inside = visit.lease.run(() => this.#stay(visitor, visit));
    await inside.catch((error) => {
      if (!(error instanceof LockLostError)) throw error; // if it is lost already, the work does not even start
    });
    stop();
    await this.#leave(visitor, visit);
  }

  /** In the scope of the lease. */
  async #stay(visitor: Visitor, visit: Visit): Promise<void> {
    const { dice } = this;
    if (dice.chance(0.3)) await visitor.fence(visit);
    await this.#write(visit);
    await visitor.client.sleep(this.#duration());
    await this.#write(visit);
    switch (dice.pick(['nothing', 'nothing', 'nothing', 'nest', 'nest two', 'detach'] as const)) {
      case 'nothing':
        return;
      case 'nest':
        return this.#use(this.#related(visitor), visit);
      case 'nest two':
        await Promise.all([
          this.#use(this.#related(visitor), visit),
          this.#use(this.#related(visitor), visit),
        ]);
        return;
      case 'detach':
        this.#detach(visitor, visit);
    }
  }

  /** Does not always wait for the answer. */
  async #write(visit: Visit): Promise<void> {
    if (!this.data || this.dice.chance(0.3)) return;
    const written = this.data.append(visit);
    if (this.dice.chance(0.7)) await written;
  }

  /** Starts work that continues when this lease is over: it is then one among many. */
  #detach(visitor: Visitor, outer: Visit): void {
    const loose = visitor.client
      .sleep(this.#duration())
      .then(() => this.#use(this.#related(visitor), outer))
      .finally(() => this.#loose.delete(loose));
    this.#loose.add(loose);
  }

  async #leave(visitor: Visitor, visit: Visit): Promise<void> {
    const { client } = visitor;
    const { lease } = visit;
    switch (this.dice.pick(['once', 'twice', 'at once', 'elsewhere', 'from two'] as const)) {
      case 'once':
        return visitor.release(visit);
      case 'twice':
        await visitor.release(visit);
        return lease.release();
      case 'at once':
        return void visitor.release(visit);
      case 'elsewhere':
        await client.sleep(0);
        return visitor.release(visit);
      case 'from two':
        await Promise.all([visitor.release(visit), lease.release(), lease.release()]);
    }
  }

  /** A visitor of the same lock, or of the other side, the whole or a part of it. */
  #related({ lock }: Visitor): Visitor {
    const isRelated = ({ lock: other }: Visitor) =>
      other === lock ||
      (other.queue !== undefined && other.queue === lock.queue) ||
      lock.parts?.includes(other) ||
      other.parts?.includes(lock);
    return this.dice.pick(this.visitors.filter(isRelated));
  }

  /** A visitor that waits for one thing while it holds another must not wait forever: others may do the reverse. */
  #wish({ lock }: Visitor, outer?: Visit): Wish {
    const { dice } = this;
    const permits = dice.integer(1, lock.permits ?? 1);
    const limit = dice.time(dice.pick([20, 200, 2_000]));
    const isPatient = outer === undefined || (lock.isReentrant && isAllOf(lock.queue, outer));
    const kinds = [
      ...(isPatient ? (['forever', 'forever', 'signal'] as const) : []),
      'wait',
      'both',
    ] as const;
    switch (dice.pick(kinds)) {
      case 'forever':
        return { permits };
      case 'wait':
        return { permits, wait: 10 + limit };
      case 'signal':
        return { permits, abortAfter: limit };
      case 'both':
        return { permits, wait: 10 + limit, abortAfter: dice.time(2 * limit) };
    }
  }

  #duration(): number {
    const { dice, visitors, pace } = this;
    const { sessionTimeout } = visitors[0]!.client;
    const long = pace.longStays.map((timeouts) => timeouts * sessionTimeout);
    return dice.time(dice.pick([...pace.stays, ...long]));
  }
}

/** Releases it as soon as the connection is interrupted; the returned function ends that. */
function leaveWhenSuspended(visitor: Visitor, visit: Visit): () => void {
  return visitor.client.events.on('connection', ({ state }) => {
    if (state === 'SUSPENDED') void visitor.release(visit);
  });
}

/** Whether all that is held around a call in the scope of that visit belongs to one queue. */
export function isAllOf(queue: LockQueue | undefined, visit: Visit | undefined): boolean {
  if (visit === undefined) return true;
  return visit.hold.queue === queue && isAllOf(queue, visit.outer);
}

/** What a visitor asks for, and how long it waits. */
export interface Wish {
  readonly wait?: number;
  /** Number of milliseconds after which its signal aborts; 0: before the call. */
  readonly abortAfter?: number;
  /** Receives the function that aborts its signal. */
  readonly onSignal?: (abort: () => void) => void;
  /** Permits of a semaphore. Default: one. */
  readonly permits?: number;
}

/** A user of one lock of one client, which reports to the judge all that it sees. */
export class Visitor {
  constructor(
    private readonly judge: Judge,
    readonly client: SimulatedClient,
    readonly lock: SimulatedLock,
  ) {}

  /**
   * Does not reject; `undefined`: not granted.
   *
   * @param outer the visit in the scope of which this is called
   */
  acquire(wish: Wish = {}, outer?: Visit): Promise<Visit | undefined> {
    return this.#ask('acquire', wish, outer);
  }

  /** Like {@link acquire}, without waiting for others. */
  tryAcquire(wish: Wish = {}, outer?: Visit): Promise<Visit | undefined> {
    return this.#ask('tryAcquire', wish, outer);
  }

  /** Like `Lock.using`, with a function that does not reject. Does not reject itself; false: not granted. */
  async using(
    stay: (visit: Visit) => Promise<void>,
    wish: Wish = {},
    outer?: Visit,
  ): Promise<boolean> {
    const { operation, options, stop } = this.#begin(wish, outer, false);
    let isInside = false;
    const visit = async (lease: Lease) => {
      isInside = true;
      const hold = this.judge.granted(operation, lease);
      await stay({ lease, hold, outer });
      this.judge.releasing(hold, lease);
    };
    try {
      await currentOperation.run(operation, () => this.#real.using(visit, options));
    } catch (error) {
      if (isInside) throw error;
      if (error instanceof LockLostError) this.judge.missed(operation);
      else this.judge.failed(operation, error);
    } finally {
      stop();
    }
    return isInside;
  }

  async fence({ lease, hold }: Visit): Promise<void> {
    try {
      this.judge.fenced(hold, await lease.fencingToken());
    } catch (error) {
      const isOver = error instanceof LockLostError || error instanceof LockNotHeldError;
      if (!isOver || lease.isHeld) this.judge.accuse(`no token: ${String(error)}`);
    }
  }

  async release({ lease, hold }: Visit): Promise<void> {
    this.judge.releasing(hold, lease);
    await lease.release();
  }

  get #real() {
    return this.lock.of(this.client);
  }

  async #ask(
    method: 'acquire' | 'tryAcquire',
    wish: Wish,
    outer: Visit | undefined,
  ): Promise<Visit | undefined> {
    const { operation, options, stop } = this.#begin(wish, outer, method === 'tryAcquire');
    try {
      const lease = await currentOperation.run(operation, () => this.#real[method](options));
      if (lease) return { lease, hold: this.judge.granted(operation, lease), outer };
      this.judge.refused(operation);
    } catch (error) {
      this.judge.failed(operation, error);
    } finally {
      stop();
    }
    return undefined;
  }

  #begin(
    { wait, abortAfter, onSignal, permits = 1 }: Wish,
    outer: Visit | undefined,
    isTry: boolean,
  ) {
    const { client, judge } = this;
    const operation = judge.began(client, this.lock, { wait, isTry, permits, outer });
    const asked = permits > 1 ? { wait, permits } : { wait };
    if (abortAfter === undefined && onSignal === undefined)
      return { operation, options: asked, stop: () => {} };
    const controller = new AbortController();
    const abort = () => {
      operation.abortedAt = client.process.now();
      controller.abort();
    };
    onSignal?.(abort);
    const stop = abortAfter ? client.userTimer(abort, abortAfter) : () => {};
    if (abortAfter === 0) abort();
    return { operation, options: { ...asked, signal: controller.signal }, stop };
  }
}
