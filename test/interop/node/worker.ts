import { setTimeout as delay } from 'node:timers/promises';
import { ObserverConnection } from './observer-connection.js';
import type { WorkerHold } from './worker-hold.js';
import type { WorkerLock } from './worker-lock.js';

const LONGEST_HOLD = 5;

/** Number of a hold; below 0 where the lock does not number them. */
export type Sequence<H> = (hold: H) => number | Promise<number>;

/** A member of the fleet: acquires the lock, holds it for 0 to 5 ms, releases it, again and again. */
export class Worker<H extends WorkerHold> {
  private static isOver = false;
  private failures = 0;

  private constructor(
    private readonly lock: WorkerLock<H>,
    private readonly observer: ObserverConnection,
    private readonly sequence: Sequence<H>,
  ) {}

  /** Works until it has to rest, and reports to the observer on that port; resolves to how often an acquire was rejected. */
  static async work<H extends WorkerHold>(
    lock: WorkerLock<H>,
    port: number,
    name: string,
    sequence: Sequence<H>,
  ): Promise<string> {
    const observer = await ObserverConnection.open(port, name);
    const worker = new Worker(lock, observer, sequence);
    await worker.run();
    observer.close();
    return String(worker.failures);
  }

  /** Ends the work of all workers of this process. */
  static rest(): void {
    Worker.isOver = true;
  }

  private async run(): Promise<void> {
    Worker.isOver = false;
    while (!Worker.isOver) {
      const hold = await this.acquire();
      if (hold) await this.keep(hold);
    }
  }

  private async acquire(): Promise<H | undefined> {
    try {
      return await this.lock.acquire();
    } catch {
      this.failures += 1;
    }
  }

  private async keep(hold: H): Promise<void> {
    if (hold.isHeld) {
      await this.observer.tell(`begin ${await this.sequence(hold)}`);
      await delay(Math.floor(Math.random() * (LONGEST_HOLD + 1)));
      // Before the release: no other worker may be granted the lock until then.
      await this.observer.tell(hold.isHeld ? 'end' : 'lost');
    }
    await hold.release();
  }
}
