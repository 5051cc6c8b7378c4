import type { Clock, Timer } from '../../core/clock.js';
import { LockError, LockTimeoutError } from '../../core/errors/index.js';
import { sleep } from '../../core/internal/timers.js';
import { isPassing } from './redis-error.js';

/** Bound on the attempts of one command: a `WaitScope`, a {@link Deadline}, or {@link asLongAs} it is wanted. */
interface RetryBound {
  /** Settles as the answer does, or rejects earlier with a `LockError`. */
  until<T>(answer: Promise<T>): Promise<T>;
  /** Resolves after `ms` milliseconds, or rejects earlier. */
  sleep(ms: number): Promise<void>;
}

/**
 * Sends a command repeatedly until the server has settled it. This is the one place that decides what an error means.
 *
 * Rejects with the error of the bound, or with that of the command if a retry would fail again: the server refuses it for
 * good, or the connection has ended.
 *
 * @param delay delay before the next attempt, in ms, by the number of failed attempts
 * @param failed called with the error of each failed attempt that may succeed a moment later
 */
export async function retryUntilAnswered<T>(
  connection: { readonly hasEnded: boolean },
  send: () => Promise<T>,
  bound: RetryBound,
  delay: (failures: number) => number,
  failed?: (error: unknown) => void,
): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await bound.until(send());
    } catch (error) {
      if (error instanceof LockError || !isPassing(error) || connection.hasEnded) throw error;
      failed?.(error);
    }
    await bound.sleep(delay(failures));
  }
}

/** A bound for retries in the background while they are wanted; an answer under way is awaited, up to a deadline if there is one. */
export function asLongAs(clock: Clock, isWanted: () => boolean, deadline?: Deadline): RetryBound {
  const pause = (ms: number) => deadline?.sleep(ms) ?? sleep(clock, ms);
  return {
    until: (answer) => deadline?.until(answer) ?? answer,
    sleep: (ms) => (isWanted() ? pause(ms) : Promise.reject(new LockTimeoutError(ms))),
  };
}

/** A point in time as a bound. */
export class Deadline implements RetryBound {
  /**
   * @param endsAt time of the deadline, by `clock`
   * @param over creates the error to reject with from then on
   */
  constructor(
    private readonly clock: Clock,
    private readonly endsAt: number,
    private readonly over: () => LockError,
  ) {}

  async until<T>(answer: Promise<T>): Promise<T> {
    let timer: Timer | undefined;
    const ended = new Promise<never>((_, reject) => {
      const left = Math.max(0, this.endsAt - this.clock.now());
      timer = this.clock.setTimer(() => reject(this.over()), left);
    });
    try {
      return await Promise.race([answer, ended]);
    } finally {
      timer?.cancel();
    }
  }

  async sleep(ms: number): Promise<void> {
    const left = this.endsAt - this.clock.now();
    if (left > 0)
      await new Promise<void>((resolve) => this.clock.setTimer(resolve, Math.min(ms, left)));
    if (left <= ms) throw this.over(); // there would be no time for an answer
  }
}
