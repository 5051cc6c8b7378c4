import type { Clock, Timer } from '../../core/clock.js';
import { LeaseScope } from '../../core/internal/lease-scope.js';
import { GRACE } from './pipelined-link.js';
import type { ServerAddress, Servers } from './server-list.js';

export interface AttemptOptions {
  readonly servers: Servers;
  /** Requested timeout in milliseconds; the servers negotiate it. */
  readonly sessionTimeout: number;
  readonly clock: Clock;
  /** Returns a number in [0, 1); spreads the reconnects of many clients. Default: `Math.random`. */
  readonly random?: () => number;
  /** Called when an attempt to connect failed; another follows. */
  readonly onAttemptFailed?: (reason: string) => void;
}

/** Time limit of each step of an attempt to connect (resolving the name, then those to an accepted session), in ms. */
const LONGEST_ATTEMPT = 5_000;
/** Minimum of that limit while there is no session to lose, in ms: the servers may grant a longer timeout than requested. */
const FIRST_ATTEMPT = 1_000;
/** Uptime from which a link counts as steady, in ms: only after a shorter one does the back-off continue. */
const STEADY = 1_000;

/** Bounds of the delay between two attempts to connect, in ms. */
const SHORTEST_DELAY = 20;
const LONGEST_DELAY = 1_000;

/**
 * Delay before attempt number `failures`, in ms: none in the first round over the servers (a negative number), then
 * from 20 ms up to 1 s. Half of it is random, so that the clients of a failed server reconnect one by one.
 */
export function reconnectDelay(failures: number, random: () => number): number {
  if (failures < 0) return 0;
  return (
    Math.min(LONGEST_DELAY, SHORTEST_DELAY * 2 ** Math.min(failures, 10)) * (0.5 + random() / 2)
  );
}

/**
 * The attempts of a client to connect: one at a time, each step of it within a limit, and a delay before the next one.
 *
 * The limit is that of a step, as a process that is busy takes a turn of its event loop for each: a server that answers is well,
 * however long that takes. There are few steps, so an attempt ends; those of a server that falls silent, a limit after its last answer.
 *
 * Invariants:
 * - At most one timer is pending: it bounds the attempt under way, or runs until the next one.
 * - A name that resolves after its attempt was given up opens no link.
 */
export class ConnectionAttempts {
  /** Whether its timers let the process end. */
  isBackground = false;
  #isStopped = false;
  /** Number of the attempt under way; each end of one counts too. */
  #attempt = 0;
  #failures = 0;
  #upSince = Infinity;
  #timer?: Timer;

  /**
   * @param connect opens a link to this server
   * @param sessionToKeep its timeout, and how long it is safe without a connection, in ms; `undefined` if there is none
   */
  constructor(
    private readonly options: AttemptOptions,
    private readonly connect: (address: ServerAddress) => void,
    private readonly sessionToKeep: () => { timeout: number; safeForMs: number } | undefined,
  ) {}

  /** Whether one has begun, or was prevented by a stop. */
  get haveBegun(): boolean {
    return this.#attempt > 0;
  }

  begin(): void {
    this.#isStopped = false;
    const attempt = ++this.#attempt;
    const isCurrent = () => attempt === this.#attempt;
    const fail = (reason: string) => void (isCurrent() && this.failed(reason));
    const limit = this.bound(() => fail('the name service does not answer'));
    this.options.servers.next(limit).then(
      (address) => void (isCurrent() && this.connect(address)),
      (error: Error) => fail(error.message),
    );
  }

  /**
   * Calls `onLate` unless the step of an attempt that begins now has ended within its limit; returns that, in ms.
   *
   * After a stall of this process the timer fires before the answer in the socket is read: that is let in first. Half of the time
   * that the session has left is for the next server.
   */
  bound(onLate: (limit: number) => void): number {
    const { sessionTimeout } = this.options;
    const session = this.sessionToKeep();
    const timeout = session?.timeout ?? Math.max(sessionTimeout, 3 * FIRST_ATTEMPT);
    const left = Math.max(0, session?.safeForMs ?? Infinity);
    const limit = Math.min(timeout / 3, LONGEST_ATTEMPT, left / 2);
    this.#setTimer(limit, () => this.#setTimer(GRACE, () => onLate(limit)));
    return limit;
  }

  succeeded(): void {
    this.#timer?.cancel();
    this.#upSince = this.options.clock.now();
  }

  /** The link of an attempt that had succeeded is lost. */
  linkLost(): void {
    if (this.options.clock.now() - this.#upSince >= STEADY) this.#failures = 0;
    this.beginLater();
  }

  failed(reason: string): void {
    this.options.onAttemptFailed?.(reason);
    this.beginLater();
  }

  beginLater(): void {
    if (this.#isStopped) return;
    const { servers, sessionTimeout, random = Math.random } = this.options;
    this.#attempt += 1;
    const delay = reconnectDelay(this.#failures++ - servers.size, random);
    this.#setTimer(Math.min(delay, sessionTimeout / 20), () => this.begin()); // a short session must not expire meanwhile
  }

  /** No attempt is under way or follows, until one begins. */
  stop(): void {
    this.#isStopped = true;
    this.#attempt += 1;
    this.#timer?.cancel();
  }

  #setTimer(ms: number, fn: () => void): void {
    this.#timer?.cancel();
    this.#timer = LeaseScope.runOutside(() =>
      this.options.clock.setTimer(fn, ms, this.isBackground),
    );
  }
}
