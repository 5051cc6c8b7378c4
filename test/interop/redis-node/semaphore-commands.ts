import type { RedisSemaphore } from '../../../lib/redis/semaphores/redis-semaphore.js';
import type { CommandedActor } from '../node/listen.js';
import type { WorkerHold } from '../node/worker-hold.js';
import { Worker } from '../node/worker.js';
import { isGranted } from './is-granted.js';
import { waitOf } from './wait-of.js';
import { Waiters } from './waiters.js';

/** The commands of a semaphore that has permits without owners. */
export class SemaphoreCommands implements CommandedActor {
  constructor(private readonly semaphore: RedisSemaphore) {}

  async run([command, , first = '', second = '']: readonly string[]): Promise<string> {
    const { semaphore } = this;
    switch (command) {
      case 'acquire':
        return this.acquire(Number(first), second);
      case 'release':
        await semaphore.release(Number(first));
        return 'released';
      case 'releaseIfExists':
        return String(await semaphore.releaseIfExists(Number(first)));
      case 'available':
        return String(await semaphore.availablePermits());
      case 'trySetPermits':
        return String(await semaphore.trySetPermits(Number(first)));
      case 'addPermits':
        await semaphore.addPermits(Number(first));
        return 'added';
      case 'drain':
        return String(await semaphore.drainPermits());
      case 'work':
        return Worker.work({ acquire: () => this.permit() }, Number(first), second, () => -1);
      default:
        throw new Error(`No such command: ${command}`);
    }
  }

  private async acquire(permits: number, wait: string): Promise<string> {
    const options = { permits, wait: waitOf(wait) };
    const granted = await Waiters.during(() => isGranted(this.semaphore.acquire(options)));
    return granted ? 'granted' : 'timeout';
  }

  private async permit(): Promise<WorkerHold> {
    await this.semaphore.acquire();
    return { isHeld: true, release: () => this.semaphore.release() };
  }
}
