import type { Lease } from '../../../lib/core/lease.js';
import type { RedisLease } from '../../../lib/redis/locks/redis-lease.js';
import { RedisLock } from '../../../lib/redis/locks/redis-lock.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { HeldLeases } from '../node/held-leases.js';
import type { CommandedActor } from '../node/listen.js';
import { Worker } from '../node/worker.js';
import { redisLockOf } from './redis-lock-of.js';
import { waitOf } from './wait-of.js';
import { Waiters } from './waiters.js';

/** The commands of locks. */
export class LockCommands implements CommandedActor {
  private readonly held = new HeldLeases();

  constructor(private readonly client: RedisLockClient) {}

  async run([command, lock = '', first = '', second = '']: readonly string[]): Promise<string> {
    switch (command) {
      case 'acquire':
        return this.acquire(lock, first, Number(second));
      case 'tryAcquire':
        return this.outcome(lock, () => redisLockOf(lock, this.client).tryAcquire());
      case 'release':
        await this.held.release(lock);
        return 'released';
      case 'forceUnlock':
        return String(await this.mutex(lock).forceUnlock());
      case 'isLocked':
        return String(await this.mutex(lock).isLocked());
      case 'remaining':
        return String(await this.mutex(lock).remainTimeToLive());
      case 'isHeld':
        return String(this.held.of(lock).isHeld);
      case 'holder':
        return (this.held.of(lock) as RedisLease).holder;
      case 'token':
        return String(await this.held.of(lock).fencingToken());
      case 'work':
        return Worker.work(redisLockOf(lock, this.client), Number(first), second, sequenceOf(lock));
      default:
        throw new Error(`No such command: ${command}`);
    }
  }

  private mutex(specification: string): RedisLock {
    const lock = redisLockOf(specification, this.client);
    if (lock instanceof RedisLock) return lock;
    throw new Error(`Not to be asked of ${specification}`);
  }

  private acquire(lock: string, wait: string, lease: number): Promise<string> {
    const options = { wait: waitOf(wait), ...(lease < 0 ? {} : { lease }) };
    return this.outcome(lock, () => redisLockOf(lock, this.client).acquire(options));
  }

  private async outcome(lock: string, acquire: () => Promise<Lease | undefined>): Promise<string> {
    const granted = await Waiters.during(() => this.held.acquire(lock, acquire));
    return granted ? 'granted' : 'timeout';
  }
}

/** Only fenced locks number their holds. */
function sequenceOf(lock: string): (lease: Lease) => number | Promise<number> {
  if (!lock.startsWith('fenced:')) return () => -1;
  return async (lease) => Number(await lease.fencingToken());
}
