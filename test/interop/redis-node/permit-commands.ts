import { LockTimeoutError } from '../../../lib/core/errors/index.js';
import type { RedisLease } from '../../../lib/redis/locks/redis-lease.js';
import type { RedisPermitExpirableSemaphore } from '../../../lib/redis/semaphores/redis-permit-expirable-semaphore.js';
import type { CommandedActor } from '../node/listen.js';
import { Worker } from '../node/worker.js';
import { waitOf } from './wait-of.js';
import { Waiters } from './waiters.js';

/** The commands of a semaphore that has permits with ids and leases. */
export class PermitCommands implements CommandedActor {
  /** The last one is released first. */
  private readonly held: RedisLease[] = [];

  constructor(private readonly semaphore: RedisPermitExpirableSemaphore) {}

  async run([command, , first = '', second = '', ...others]: readonly string[]): Promise<string> {
    const { semaphore } = this;
    switch (command) {
      case 'acquire':
        return Waiters.during(() => this.acquire(Number(first), second, Number(others[0])));
      case 'release':
        await this.held.pop()!.release();
        return 'released';
      case 'releaseIds':
        return String(await semaphore.tryRelease([first, second, ...others].filter(Boolean)));
      case 'isHeld':
        return String(this.held.at(-1)!.isHeld);
      case 'available':
        return String(await semaphore.availablePermits());
      case 'acquired':
        return String(await semaphore.acquiredPermits());
      case 'permits':
        return String(await semaphore.getPermits());
      case 'trySetPermits':
        return String(await semaphore.trySetPermits(Number(first)));
      case 'setPermits':
        await semaphore.setPermits(Number(first));
        return 'set';
      case 'addPermits':
        await semaphore.addPermits(Number(first));
        return 'added';
      case 'leaseTime':
        return String(await semaphore.getLeaseTime(first));
      case 'updateLeaseTime':
        return String(await semaphore.updateLeaseTime(first, Number(second)));
      case 'work':
        return Worker.work(semaphore, Number(first), second, () => -1);
      default:
        throw new Error(`No such command: ${command}`);
    }
  }

  private async acquire(permits: number, wait: string, lease: number): Promise<string> {
    const options = { permits, wait: waitOf(wait), ...(lease < 0 ? {} : { lease }) };
    try {
      const granted = await this.semaphore.acquire(options);
      this.held.push(granted);
      return `granted ${granted.permitIds.join(' ')}`;
    } catch (error) {
      if (error instanceof LockTimeoutError) return 'timeout';
      throw error;
    }
  }
}
