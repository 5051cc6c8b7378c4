import type { Lease } from '../../../lib/core/lease.js';
import type { RedLockClient } from '../../../lib/redis/red-lock/red-lock-client.js';
import { HeldLeases } from '../node/held-leases.js';
import type { CommandedActor } from '../node/listen.js';
import { waitOf } from './wait-of.js';

/** The commands of locks on several servers, by their names. */
export class RedLockCommands implements CommandedActor {
  private readonly held = new HeldLeases();

  constructor(private readonly client: RedLockClient) {}

  async run([command, name = '', wait = '']: readonly string[]): Promise<string> {
    const lock = this.client.mutex(name);
    switch (command) {
      case 'acquire':
        return this.outcome(name, () => lock.acquire({ wait: waitOf(wait) }));
      case 'tryAcquire':
        return this.outcome(name, () => lock.tryAcquire());
      case 'release':
        await this.held.release(name);
        return 'released';
      default:
        throw new Error(`No such command: ${command}`);
    }
  }

  private async outcome(name: string, acquire: () => Promise<Lease | undefined>): Promise<string> {
    return (await this.held.acquire(name, acquire)) ? 'granted' : 'timeout';
  }
}
