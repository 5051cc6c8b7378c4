import type { Lease } from '../../../lib/core/lease.js';
import type { ZooKeeperLease } from '../../../lib/zookeeper/locks/zookeeper-lease.js';
import { eventually } from '../../support/eventually.js';
import type { TestClient } from '../../integration/support/test-client.js';
import { HeldLeases } from './held-leases.js';
import type { CommandedActor } from './listen.js';
import type { Locks } from './locks.js';
import type { Recipes } from './recipes.js';
import { Worker } from './worker.js';

/** The commands of one actor; the answers are single lines. */
export class Commands implements CommandedActor {
  private readonly held = new HeldLeases();
  /** Revocations of each lease that were not reported yet. */
  private readonly revocations = new Map<Lease, number>();

  constructor(
    private readonly client: TestClient,
    private readonly locks: Locks,
    private readonly recipes: Recipes,
  ) {}

  async run(words: readonly string[]): Promise<string> {
    const [command, first = '', second = '', third = ''] = words;
    switch (command) {
      case 'acquire':
        return this.acquire(first, Number(second), Number(third));
      case 'release':
        await this.held.release(first);
        return 'released';
      case 'participants':
        return (await this.locks.get(first).participants!()).join(' ');
      case 'makeRevocable':
        return this.makeRevocable(first);
      case 'revoked':
        return this.revoked(first, Number(second));
      case 'revoke':
        return String(await this.client.locks.revoke(first));
      case 'startCount':
        await this.locks.startCount(first, Number(second));
        return 'started';
      case 'setCount':
        await this.locks.setCount(first, Number(second));
        return 'set';
      case 'session':
        return this.client.connection.session!.id;
      case 'work':
        return Worker.work(this.locks.get(first), Number(second), third, sequence);
      case 'rest':
        Worker.rest();
        return 'resting';
      default:
        return this.recipes.get(first).run(words);
    }
  }

  private async acquire(lock: string, wait: number, permits: number): Promise<string> {
    const options = { wait: wait < 0 ? ('forever' as const) : wait, permits };
    const acquire = () => this.locks.get(lock).acquire(options);
    return (await this.held.acquire(lock, acquire)) ? 'granted' : 'timeout';
  }

  private makeRevocable(lock: string): string {
    const lease = this.held.of(lock) as ZooKeeperLease;
    lease.makeRevocable(() => this.revocations.set(lease, this.untold(lease) + 1));
    return 'revocable';
  }

  private async revoked(lock: string, within: number): Promise<string> {
    const lease = this.held.of(lock);
    try {
      await eventually('revoked', () => this.untold(lease) > 0, { within });
    } catch {
      return 'timeout';
    }
    this.revocations.set(lease, this.untold(lease) - 1);
    return 'revoked';
  }

  private untold(lease: Lease): number {
    return this.revocations.get(lease) ?? 0;
  }
}

/** Number of the node that the lease is held by. */
function sequence(lease: Lease): number {
  return Number((lease as ZooKeeperLease).paths[0]!.slice(-10));
}
