import { setTimeout as delay } from 'node:timers/promises';
import type { Lease } from '../../../lib/core/lease.js';
import type { Lock } from '../../../lib/core/lock.js';
import { ObserverConnection } from './observer-connection.js';

const LONGEST_HOLD = 5;

/** Number of a hold; below 0 where the lock does not number them. */
export type Sequence = (lease: Lease) => number | Promise<number>;

/** One member of the fleet: takes the lock, holds it for 0 to 5 ms, gives it back, again and again. */
export class Worker {
  private static isOver = false;
  private failures = 0;

  private constructor(
    private readonly lock: Lock,
    private readonly observer: ObserverConnection,
    private readonly sequence: Sequence,
  ) {}

  /** Works until there is rest, and tells the observer on that port; resolves with how often an acquire was rejected. */
  static async work(lock: Lock, port: number, name: string, sequence: Sequence): Promise<string> {
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
      const lease = await this.acquire();
      if (lease) await this.hold(lease);
    }
  }

  private async acquire(): Promise<Lease | undefined> {
    try {
      return await this.lock.acquire();
    } catch {
      this.failures += 1;
    }
  }

  private async hold(lease: Lease): Promise<void> {
    if (lease.isHeld) {
      await this.observer.tell(`begin ${await this.sequence(lease)}`);
      await delay(Math.floor(Math.random() * (LONGEST_HOLD + 1)));
      // Before the release: nobody else may be granted the lock until then.
      await this.observer.tell(lease.isHeld ? 'end' : 'lost');
    }
    await lease.release();
  }
}
