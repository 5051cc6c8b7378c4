import type { Clock, Timer } from '../../core/clock.js';

/**
 * Share of the session timeout that we trust: the rest covers clocks that drift and a timer that fires late, so that a
 * holder learns of its loss before the servers give its lock to somebody else.
 */
const TRUSTED_SHARE = 0.95;

/**
 * A session on the servers, as far as we may still rely on it.
 *
 * The servers count the timeout from when they last heard of us, which is never before we sent it. So until
 * `send time of the last answered request + timeout` they cannot have expired the session, whatever happens on the wire.
 *
 * Invariant: once `isAlive` has been false it is false for ever, and every listener has been told.
 */
export class Session {
  #safeUntil: number;
  #ended = false;
  #timer?: Timer;
  readonly #listeners = new Set<(reason: string) => void>();

  /**
   * @param id hex id, as the servers know it
   * @param timeout negotiated timeout in milliseconds; `Infinity`: it cannot expire
   * @param sentAt when the request was sent that the servers answered with this session
   */
  constructor(
    readonly id: string,
    readonly password: string,
    readonly timeout: number,
    private readonly clock: Clock,
    sentAt: number,
  ) {
    this.#safeUntil = sentAt + timeout * TRUSTED_SHARE;
    this.#arm();
  }

  /** Can the servers not have expired it? Asked of the clock, so that it also holds when the event loop was stalled. */
  get isAlive(): boolean {
    if (!this.#ended && this.clock.now() >= this.#safeUntil)
      this.end(`no answer from the servers for ${Math.round(this.timeout * TRUSTED_SHARE)} ms`);
    return !this.#ended;
  }

  /** A request sent at `sentAt` was answered. */
  answered(sentAt: number): void {
    if (this.isAlive)
      this.#safeUntil = Math.max(this.#safeUntil, sentAt + this.timeout * TRUSTED_SHARE);
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

  #arm(): void {
    if (this.timeout === Infinity) return;
    this.#timer = this.clock.setTimer(
      () => {
        if (this.isAlive) this.#arm();
      },
      Math.max(0, this.#safeUntil - this.clock.now()),
      true,
    );
  }
}
