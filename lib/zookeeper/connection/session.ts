import type { Clock, Timer } from '../../core/clock.js';

/**
 * Share of the session timeout that we trust: the rest covers clocks that drift and a timer that fires late, so that a
 * holder learns of its loss before the servers give its lock to somebody else.
 */
const TRUSTED_SHARE = 0.95;
/** How many requests are remembered for each tick that the servers may take to pass them on. */
const TOUCHES = 8;

/** Default of the `tickTime` of the servers, in ms: that of ZooKeeper's own sample configuration. */
export const DEFAULT_TICK_TIME = 2_000;

/** A request that the server we are connected to has heard. */
interface Touch {
  readonly sentAt: number;
  readonly answeredAt: number;
}

/**
 * A session on the servers, as far as we may still rely on it.
 *
 * The leader expires the session, one timeout after its last touch. Touches at a follower reach the leader with the
 * follower's answer to a ping, every half tick; a forwarded request (`sync`, a write) is no touch by itself, and a read is
 * not forwarded. Both use one stream. So the answer to a `sync` sent at `t` proves that every touch which the follower had
 * answered by `t - tickTime` has reached the leader, not before it was sent. A follower that is cut off, or lags, proves
 * nothing.
 *
 * Assumptions: the leader pings at least once a tick, and a `sync` is answered by the current leader. A deposed one may
 * answer for `syncLimit` ticks: see `docs/zookeeper.md`.
 *
 * Invariant: once `isAlive` has been false it is false for ever, and every listener has been called.
 */
export class Session {
  #timeout: number;
  #safeUntil: number;
  #ended = false;
  #timer?: Timer;
  /** Touches that may not have reached the leader yet; oldest first. */
  #touches: Touch[] = [];
  readonly #listeners = new Set<(reason: string) => void>();

  /**
   * @param id hex id, as the servers know it
   * @param timeout negotiated timeout in milliseconds; `Infinity`: it cannot expire
   * @param tickTime of the servers, in milliseconds; what they negotiate is two of them or more
   * @param sentAt when the request was sent that the leader answered with this session
   */
  constructor(
    readonly id: string,
    readonly password: string,
    timeout: number,
    private readonly clock: Clock,
    sentAt: number,
    private readonly tickTime = DEFAULT_TICK_TIME,
  ) {
    this.#timeout = timeout;
    this.#safeUntil = this.#safeAfter(sentAt);
    this.#arm();
  }

  /** Negotiated, in milliseconds: the smallest that any server has granted. */
  get timeout(): number {
    return this.#timeout;
  }

  /** How long the leader may be silent, in milliseconds, before the session is doubtful. */
  get patience(): number {
    return this.#timeout === Infinity ? Infinity : this.#timeout - this.#lag;
  }

  /** Can the servers not have expired it? Asked of the clock, so that it also holds when the event loop was stalled. */
  get isAlive(): boolean {
    if (!this.#ended && this.clock.now() >= this.#safeUntil)
      this.end(
        `no proof for ${Math.round(this.#timeout * TRUSTED_SHARE)} ms that the servers still keep it`,
      );
    return !this.#ended;
  }

  /**
   * A request that was sent at `sentAt` was answered.
   *
   * @param byLeader the leader has dealt with it, not only the server that we are connected to
   */
  answered(sentAt: number, byLeader: boolean): void {
    if (this.#timeout === Infinity || !this.isAlive) return;
    if (byLeader) this.#confirm(sentAt - this.#lag);
    const latest = this.#touches.at(-1);
    if (latest === undefined || sentAt - latest.sentAt >= this.#lag / TOUCHES)
      this.#touches.push({ sentAt, answeredAt: this.clock.now() });
  }

  /**
   * The session was re-attached by a request sent at `sentAt`, which touches it at the leader with this server's timeout. A
   * touch with the former timeout may still arrive after that, so the smaller one counts.
   */
  attached(timeout: number, sentAt: number): void {
    if (this.#timeout === Infinity || !this.isAlive) return;
    this.#timeout = Math.min(this.#timeout, timeout);
    this.#safeUntil = this.#safeAfter(sentAt);
    this.#touches = []; // that server need not have passed them on
    this.#timer?.cancel();
    this.#arm();
  }

  /** It is over, for `reason`. Idempotent; the first reason is the one that is told. */
  end(reason: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#timer?.cancel();
    for (const listener of [...this.#listeners]) listener(reason);
    this.#listeners.clear();
  }

  /** Called once, when the session ends (also when it has already: then at once); the returned function stops that. */
  onEnd(listener: (reason: string) => void): () => void {
    if (this.#ended) {
      listener('the session has ended');
      return () => {};
    }
    const entry = (reason: string) => listener(reason);
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  /** The longest that a touch takes to the leader, in ms. No session has less than two ticks. */
  get #lag(): number {
    return Math.min(this.tickTime, this.#timeout / 2);
  }

  #safeAfter(touchedAt: number): number {
    return touchedAt + this.#timeout * TRUSTED_SHARE;
  }

  /** The leader knows of what was answered by then. */
  #confirm(answeredBy: number): void {
    const known = this.#touches.findLastIndex(({ answeredAt }) => answeredAt <= answeredBy);
    if (known < 0) return;
    const { sentAt } = this.#touches[known]!;
    this.#touches.splice(0, known + 1);
    this.#safeUntil = Math.max(this.#safeUntil, this.#safeAfter(sentAt));
  }

  #arm(): void {
    if (this.#timeout === Infinity) return;
    this.#timer = this.clock.setTimer(
      () => {
        if (this.isAlive) this.#arm();
      },
      Math.max(0, this.#safeUntil - this.clock.now()),
      true,
    );
  }
}
