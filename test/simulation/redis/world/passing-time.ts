import type { VirtualClock } from '../../../support/time.js';
import type { History } from '../../observer.js';

/** Lets the time of a world pass, with its judge checking after every event. */
export class PassingTime {
  constructor(
    private readonly clock: VirtualClock,
    private readonly history: History,
    private readonly check: () => void,
  ) {}

  /** Lets time pass until the condition is true. */
  async until(isOver: () => boolean, limit?: number): Promise<void> {
    const look = () => {
      this.check();
      return isOver();
    };
    try {
      await this.clock.runUntil(look, limit);
    } catch (error) {
      this.history.throwIfAccused();
      this.history.accuse((error as Error).message);
      this.history.throwIfAccused();
    }
  }

  /** Lets time pass until the promise is resolved. */
  async wait<T>(promise: Promise<T>, limit?: number): Promise<T> {
    let isOver = false;
    promise.finally(() => (isOver = true)).catch(() => {});
    await this.until(() => isOver, limit);
    return promise;
  }

  /** Lets `ms` pass. */
  async pass(ms: number): Promise<void> {
    let isOver = false;
    this.clock.setTimer(() => (isOver = true), ms);
    await this.until(() => isOver);
  }
}
