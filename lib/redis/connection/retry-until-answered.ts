import type { Clock, Timer } from '../../core/clock.js';
import { LockError, LockTimeoutError } from '../../core/errors/index.js';
import type { RedisConnection } from './redis-connection.js';
import { isPassing } from './redis-error.js';

/** What ends the attempts of one command: a `WaitScope`, a {@link Deadline}, or {@link asLongAs} it is wanted. */
export interface RetryBound {
  /** Settles as the answer does, or rejects with a `LockError` before. */
  until<T>(answer: Promise<T>): Promise<T>;
  /** Resolves after `ms`, or rejects before. */
  sleep(ms: number): Promise<void>;
}

/**
 * Sends a command again and again, until the server has settled it: the one place where it is decided what an error means.
 *
 * Rejects with what ended the bound, and as the command does where the same would happen again: the server refuses it for
 * good, or the connection has ended.
 *
 * @param delay before the next attempt, in ms, after so many that failed
 * @param failed called with the error of each attempt that may succeed a moment later
 */
export async function retryUntilAnswered<T>(
  connection: Pick<RedisConnection, 'hasEnded'>,
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

/** Goes on in the background for as long as it is wanted; an answer that is under way is always waited for. */
export function asLongAs(clock: Clock, isWanted: () => boolean): RetryBound {
  return {
    until: (answer) => answer,
    sleep: (ms) =>
      isWanted()
        ? new Promise<void>((resolve) => void clock.setTimer(resolve, ms, true))
        : Promise.reject(new LockTimeoutError(ms)),
  };
}

/** A point in time as a bound. */
export class Deadline implements RetryBound {
  /**
   * @param endsAt by `clock`
   * @param over makes what it rejects with from then on
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
    if (left <= 0) throw this.over();
    await new Promise<void>((resolve) => this.clock.setTimer(resolve, Math.min(ms, left)));
  }
}
