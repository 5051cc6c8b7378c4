import { randomUUID } from 'node:crypto';
import { type Clock, type Timer, wallNow } from '../clock.js';
import { OrderedSet } from '../collections/ordered-set.js';
import { LockDeadlockError } from '../errors/index.js';
import { LeaseScope } from '../internal/lease-scope.js';
import { inTurns } from '../internal/timers.js';
import { DeadlockExchange, type ExchangeServers } from './deadlock-exchange.js';
import {
  type DeadlockReport,
  deadlockReport,
  MOST_WAITS,
  reportedWait,
} from './deadlock-report.js';
import type { WaitInside } from './deadlocks.js';
import { type PeerCircle, PeerGraph } from './peer-graph.js';

/** Duration of a wait inside of a lock, in ms, after which its client asks the others. */
const ASKS_AFTER = 1_000;

/**
 * Duration from which a wait is in the reports, in ms: less, as a timer may be early, and so that those that began together see each
 * other at the first look.
 */
const REPORTED_AFTER = 500;

/** Time that the others have for their answers, in ms; twice as much after every second look without a circle, up to the longest. */
const ANSWER_WITHIN = 300;
const LONGEST_ANSWER = 2_000;

/** Pause before a circle is looked for again, in ms. */
const CONFIRMED_AFTER = 250;

/** Pause before the next look while a wait lasts, in ms; twice as long each time, up to the longest. */
const LOOKS_AGAIN_AFTER = 400;
const LONGEST_PAUSE = 30_000;

/** Time for which a client takes part after its last wait that was long, in ms. */
const LINGERS = 10_000;

/** The servers of a client, as far as its deadlocks are concerned. */
interface Servers extends ExchangeServers {
  /** Name on the servers of the lock with this key. */
  nameOf(key: string): string;
  keyOf(name: string): string;
}

interface OpenWait {
  readonly id: string;
  /** By the clock of the client, in ms. */
  readonly startedAt: number;
  /** In ms since 1970. */
  readonly since: number;
  readonly wait: WaitInside;
  isReported: boolean;
}

/**
 * The waits of one client inside of locks, and the circles that they form with those of other clients on the same servers.
 *
 * A client takes part in the exchange only from the time at which one of its waits has lasted a second: others cannot be in a
 * circle that matters. Whichever of a circle does so last, all others are listening by then. It asks, searches the circle in what
 * was reported, and asks again: a snapshot of a system that moves can show a circle that never was, a phantom deadlock (Knapp,
 * Deadlock Detection in Distributed Databases, 1987).
 *
 * Invariants:
 * - What is found twice was there once: each wait and each lock around it lasts without a gap from the first report with it to
 *   the last one, so between the two questions all of them were there at the same time.
 * - At most one look is under way; a timer is set only while none is, or for its pause.
 * - Once it is closed, it starts nothing. Without connection or permission it finds nothing, and no acquire notices.
 */
export class PeerDeadlocks {
  readonly #id = randomUUID();
  readonly #waits = new OrderedSet<OpenWait>();
  #count = 0;
  readonly #exchange: DeadlockExchange;
  #isLooking = false;
  #isClosed = false;
  /** Looks without a circle since a wait became long. */
  #looks = 0;
  #timer?: Timer;

  constructor(
    private readonly context: { readonly client: string; readonly clock: Clock },
    private readonly servers: Servers,
  ) {
    this.#exchange = new DeadlockExchange(context.clock, servers, () => this.#ownReport());
  }

  /** Records that it begins to wait; the returned function ends that. */
  enter(wait: WaitInside): () => void {
    const { clock } = this.context;
    this.#count += 1;
    const id = `${this.#id}:${this.#count}`;
    const startedAt = clock.now();
    const since = wallNow(clock);
    const leave = this.#waits.add({ id, startedAt, since, wait, isReported: false });
    const isLong = () => this.#isLong();
    const timer = LeaseScope.runOutside(() => clock.setTimer(isLong, ASKS_AFTER, true));
    return () => {
      timer.cancel();
      leave();
    };
  }

  /** Ends everything; resolves when nothing of this client is left on the servers, or when these do not answer. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#exchange.close();
  }

  /** A new long wait: those that look already begin anew, at short distances. */
  #isLong(): void {
    this.#looks = 0;
    if (!this.#isLooking) void this.#look();
  }

  async #look(): Promise<void> {
    if (this.#isClosed) return;
    this.#timer?.cancel();
    if (!this.#isAwaited) return this.#lookLater();
    this.#isLooking = true;
    const timeout = Math.min(ANSWER_WITHIN * 2 ** (this.#looks >> 1), LONGEST_ANSWER);
    this.#looks += 1;
    try {
      await this.#report(timeout);
    } catch {
      // The servers do not answer, or do not allow it: the next look may find what this one has missed.
    }
    this.#isLooking = false;
    this.#lookLater();
  }

  #lookLater(): void {
    if (this.#isClosed) return;
    const pause = Math.min(LOOKS_AGAIN_AFTER * 2 ** Math.max(0, this.#looks - 1), LONGEST_PAUSE);
    if (this.#isAwaited) this.#setTimer(() => void this.#look(), pause);
    else this.#setTimer(() => this.#leaveUnlessAwaited(), LINGERS);
  }

  /** Those that were reported go on waiting, and are a part of what others look for. */
  #leaveUnlessAwaited(): void {
    if (this.#open().length > 0) this.#lookLater();
    else this.#exchange.leave();
  }

  /** Reports the circles that are there twice. */
  async #report(timeout: number): Promise<void> {
    const seen = await this.#circles(timeout);
    if (seen.size === 0 || this.#isClosed) return;
    await new Promise<void>((resolve) => this.#setTimer(resolve, CONFIRMED_AFTER)); // never, if it is closed meanwhile
    const confirmed = await this.#circles(timeout);
    const open = new Set(this.#waits);
    for (const [each, { id, acquires }] of confirmed) {
      // The client may have been closed, and the wait may have ended, before the last answer.
      if (this.#isClosed || !open.has(each) || seen.get(each)?.id !== id) continue;
      each.isReported = true;
      const { client, keys, found } = each.wait;
      found(new LockDeadlockError(acquires, { client, key: keys.join(' + ') }));
    }
  }

  /** The circles of which a wait of this client is the youngest, by that wait, but for those that were reported. */
  async #circles(timeout: number): Promise<Map<OpenWait, PeerCircle>> {
    const circles = new Map<OpenWait, PeerCircle>();
    const others = await this.#exchange.ask(timeout);
    const graph = new PeerGraph(this.#ownReport(), others);
    await inTurns(this.#open(), (each) => {
      if (each.isReported) return;
      const circle = graph.circleOf(each.id, (name) => this.servers.keyOf(name));
      if (circle !== undefined) circles.set(each, circle);
    });
    return circles;
  }

  #ownReport(): DeadlockReport {
    const nameOf = (key: string) => this.servers.nameOf(key);
    const waits = this.#open().map(({ id, since, wait }) => reportedWait(id, since, wait, nameOf));
    return deadlockReport(this.context.client, waits);
  }

  /** The waits that have lasted long, the oldest first. */
  #open(): OpenWait[] {
    const latest = this.context.clock.now() - REPORTED_AFTER;
    return this.#waits.oldest(MOST_WAITS).filter(({ startedAt }) => startedAt <= latest);
  }

  /** Whether there is a circle to look for. */
  get #isAwaited(): boolean {
    return this.#open().some(({ isReported }) => !isReported);
  }

  #setTimer(fn: () => void, ms: number): void {
    this.#timer = this.context.clock.setTimer(fn, ms, true);
  }
}
