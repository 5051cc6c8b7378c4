import { OrderedSet } from '../../core/collections/ordered-set.js';
import { type Clock, exactNow, type Timer } from '../../core/clock.js';

/**
 * Trusted share of the session timeout. The rest covers clock drift and a timer that fires late, so that a holder learns
 * of its loss before the servers grant its lock to another client.
 */
const TRUSTED_SHARE = 0.95;
/** Number of requests remembered for each tick that the servers may take to forward them. */
const TOUCHES = 8;

/** Default `tickTime` of the servers in ms, as in ZooKeeper's own sample configuration. */
const DEFAULT_TICK_TIME = 2_000;

/** A request that the connected server has received. */
interface Touch {
  readonly sentAt: number;
  readonly answeredAt: number;
}

/**
 * A session on the servers, as far as the client may still rely on it.
 *
 * The leader expires the session one timeout after its last touch. Touches at a follower reach the leader with the
 * follower's answer to a ping, every half tick; a forwarded request (`sync`, a write) is no touch by itself, and a read is
 * not forwarded. Ping answers and forwarded requests use one stream. So the answer to a `sync` sent at `t` proves that
 * every touch which the follower had answered by `t - tickTime` has reached the leader, and no earlier than that touch was
 * sent. A follower that is cut off, or lags, proves nothing.
 *
 * Assumptions: the leader pings at least once per tick, and the current leader answers a `sync`. A deposed leader may
 * answer for `syncLimit` ticks: see `docs/zookeeper.md`. And only this client closes the session: a follower on which another
 * connection closes it leaves this one open, and goes on answering (seen at 3.8).
 *
 * Invariant: once `isAlive` has been false it stays false, and every listener has been called.
 */
export class Session {
  #timeout: number;
  #safeUntil: number;
  #confirmedAt: number;
  #ended = false;
  #timer?: Timer;
  /** Whether it was doubtful when the timer last fired. */
  #wasDoubtful = false;
  readonly #doubters: (() => void)[] = [];
  /** Touches that may not have reached the leader yet; oldest first. */
  #touches: Touch[] = [];
  readonly #listeners = new OrderedSet<(reason: string) => void>();

  /**
   * @param id hex id on the servers
   * @param timeout negotiated timeout in milliseconds; `Infinity` if the session cannot expire
   * @param tickTime tick time of the servers in milliseconds; a negotiated timeout is at least two ticks
   * @param sentAt time at which the request was sent that the leader answered with this session
   * @param catchUp called before it is asked whether it is alive, and for how long: another thread may have `confirmed` it
   */
  constructor(
    readonly id: string,
    readonly password: string,
    timeout: number,
    private readonly clock: Clock,
    sentAt: number,
    private readonly tickTime = DEFAULT_TICK_TIME,
    private readonly catchUp?: () => void,
  ) {
    this.#timeout = timeout;
    this.#safeUntil = this.#safeAfter(sentAt);
    this.#confirmedAt = sentAt;
    this.#arm();
  }

  /** Negotiated timeout in milliseconds: the smallest that any server has granted. */
  get timeout(): number {
    return this.#timeout;
  }

  /** How long the leader may be silent before the session is doubtful, in milliseconds. */
  get patience(): number {
    return this.#timeout === Infinity ? Infinity : this.#timeout - this.#lag;
  }

  /** When the latest sign of life was sent of which the leader is known to have learned. */
  get confirmedAt(): number {
    return this.#confirmedAt;
  }

  /** How long it is safe without another sign of life, in milliseconds. */
  get safeForMs(): number {
    this.catchUp?.();
    return this.#safeUntil - this.clock.now();
  }

  /**
   * Whether the leader has been silent for half of `patience`: longer than the pause between two requests for a sign of life, and
   * what its answer may be behind.
   */
  get isDoubtful(): boolean {
    return this.clock.now() >= this.#doubtfulAt;
  }

  /** True if the servers cannot have expired the session. Checked by the clock, so it also holds after an event loop stall. */
  get isAlive(): boolean {
    if (this.#timeout === Infinity || this.#ended) return !this.#ended;
    this.catchUp?.();
    if (exactNow(this.clock) >= this.#safeUntil)
      this.end(
        `no proof for ${Math.round(this.#timeout * TRUSTED_SHARE)} ms that the servers still keep it`,
      );
    return !this.#ended;
  }

  /**
   * Records that a request sent at `sentAt` was answered.
   *
   * @param byLeader true if the leader has handled it, not only the connected server
   */
  answered(sentAt: number, byLeader: boolean): void {
    if (this.#timeout === Infinity || !this.isAlive) return;
    if (byLeader) this.#confirm(sentAt - this.#lag);
    const latest = this.#touches.at(-1);
    if (latest === undefined || sentAt - latest.sentAt >= this.#lag / TOUCHES)
      this.#touches.push({ sentAt, answeredAt: this.clock.now() });
  }

  /**
   * Records that a request sent at `sentAt` re-attached the session, which touches it at the leader with this server's
   * timeout. A touch with the former timeout may still arrive after that, so the smaller timeout counts.
   */
  attached(timeout: number, sentAt: number): void {
    if (this.#timeout === Infinity || !this.isAlive) return;
    this.#timeout = Math.min(this.#timeout, timeout);
    this.#safeUntil = this.#safeAfter(sentAt);
    this.#confirmedAt = sentAt;
    this.#touches = []; // the former server need not have forwarded them
    this.#wasDoubtful = false;
    this.#timer?.cancel();
    this.#arm();
  }

  /**
   * Records that the leader has learned of a sign of life of another thread, which has attached to the session too, and was granted
   * `timeout`. It was sent at `sentAt`.
   */
  confirmed(timeout: number, sentAt: number): void {
    const isShorter = timeout < this.#timeout;
    this.#timeout = Math.min(this.#timeout, timeout);
    const safeUntil = this.#safeAfter(sentAt);
    if (isShorter || safeUntil > this.#safeUntil) this.#safeUntil = safeUntil;
    this.#confirmedAt = Math.max(this.#confirmedAt, sentAt);
  }

  /** Ends the session for `reason`. Idempotent; the first reason is the one reported. */
  end(reason: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#timer?.cancel();
    for (const listener of this.#listeners) {
      this.#listeners.shift(); // a session that is kept must not keep them
      listener(reason);
    }
  }

  /** Calls `listener` when the session becomes doubtful, once, until the leader has shown another sign of life. */
  onDoubt(listener: () => void): void {
    this.#doubters.push(listener);
  }

  /** Calls `listener` once, when the session ends (at once if it already has); the returned function unsubscribes it. */
  onEnd(listener: (reason: string) => void): () => void {
    if (this.#ended) {
      listener('the session has ended');
      return () => {};
    }
    return this.#listeners.add(listener);
  }

  /** Longest time that a touch takes to reach the leader, in ms. No session timeout is below two ticks. */
  get #lag(): number {
    return Math.min(this.tickTime, this.#timeout / 2);
  }

  get #doubtfulAt(): number {
    const delay = this.#lag + this.#lag / TOUCHES;
    return this.#confirmedAt + delay + this.patience / 2;
  }

  #safeAfter(touchedAt: number): number {
    return touchedAt + this.#timeout * TRUSTED_SHARE;
  }

  /** Records that the leader knows of every touch answered by `answeredBy`. */
  #confirm(answeredBy: number): void {
    const known = this.#touches.findLastIndex(({ answeredAt }) => answeredAt <= answeredBy);
    if (known < 0) return;
    const { sentAt } = this.#touches[known]!;
    this.#touches.splice(0, known + 1);
    this.#safeUntil = Math.max(this.#safeUntil, this.#safeAfter(sentAt));
    this.#confirmedAt = Math.max(this.#confirmedAt, sentAt);
  }

  #arm(): void {
    if (this.#timeout === Infinity) return;
    const at = this.#wasDoubtful ? this.#safeUntil : this.#doubtfulAt;
    const look = () => {
      if (!this.isAlive) return;
      const { isDoubtful } = this;
      if (isDoubtful && !this.#wasDoubtful) for (const listener of this.#doubters) listener();
      this.#wasDoubtful = isDoubtful;
      this.#arm();
    };
    this.#timer = this.clock.setTimer(look, Math.max(0, at - this.clock.now()), true);
  }
}
