import { setTimeout as delay } from 'node:timers/promises';
import type { Lease } from '../../../lib/core/lease.js';
import type { Lock } from '../../../lib/core/lock.js';
import type { ZooKeeperLease } from '../../../lib/zookeeper/recipes/zookeeper-lease.js';
import type { ObserverConnection } from './observer-connection.js';

const LONGEST_HOLD = 5;

/** One member of the fleet: takes the lock, holds it for 0 to 5 ms, gives it back, again and again. */
export class Worker {
  private static isOver = false;
  private failures = 0;

  constructor(
    private readonly lock: Lock,
    private readonly observer: ObserverConnection,
  ) {}

  /** Ends the work of all workers of this process. */
  static rest(): void {
    Worker.isOver = true;
  }

  /** Resolves with how often an acquire was rejected. */
  async run(): Promise<number> {
    Worker.isOver = false;
    while (!Worker.isOver) {
      const lease = await this.acquire();
      if (lease) await this.hold(lease);
    }
    return this.failures;
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
      await this.observer.tell(`begin ${sequence(lease as ZooKeeperLease)}`);
      await delay(Math.floor(Math.random() * (LONGEST_HOLD + 1)));
      // Before the release: nobody else may be granted the lock until then.
      await this.observer.tell(lease.isHeld ? 'end' : 'lost');
    }
    await lease.release();
  }
}

/** Number of the node by which the lease is held. */
function sequence({ paths }: ZooKeeperLease): number {
  return Number(paths[0]!.slice(-10));
}
