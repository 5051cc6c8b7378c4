import type { Lease } from '../../../lib/core/lease.js';
import type { Lock } from '../../../lib/core/lock.js';
import type { ZooKeeperLease } from '../../../lib/zookeeper/locks/zookeeper-lease.js';
import type { SharedCount } from '../../../lib/zookeeper/shared/shared-count.js';
import type { ZooKeeperLockClient } from '../../../lib/zookeeper/zookeeper-lock-client.js';
import { type TestClient } from '../../faults/support/test-client.js';
import { eventually } from '../../support/time.js';
import { type CommandedActor, HeldLeases, waitOf } from './listen.js';
import { optionsIn } from './mutex-options.js';
import type { Recipes } from './recipes.js';
import { Worker } from './worker.js';

type Participants = { participants?(): Promise<string[]> };

/**
 * The locks of this process by their specifications: `mutex:/a` (see `withOptions`), `read:/a`, `write:/a`, `semaphore#3:/a`,
 * `semaphore#/n:/a` (as many permits as the shared count at `/n` says), `semaphoreMutex:/a`, and `mutex:/a+write:/b` for a
 * multi-lock.
 */
export class Locks {
  private readonly counts = new Map<string, SharedCount>();

  constructor(private readonly client: ZooKeeperLockClient) {}

  get(specification: string): Lock & Participants {
    const parts = specification.split('+');
    if (parts.length > 1) return this.client.multiLock(parts.map((part) => this.get(part)));
    const [, recipe, detail, path] = /^(\w+)(?:#([^:]+))?:(.+)$/.exec(specification) ?? [];
    switch (recipe) {
      case 'mutex':
        return this.client.mutex(path!, optionsIn(detail));
      case 'read':
        return this.client.readWriteLock(path!).readLock();
      case 'write':
        return this.client.readWriteLock(path!).writeLock();
      case 'semaphore':
        return this.client.semaphore(path!, {
          permits: this.counts.get(detail!) ?? Number(detail),
        });
      case 'semaphoreMutex':
        return this.client.semaphoreMutex(path!);
      default:
        throw new Error(`No such recipe: ${specification}`);
    }
  }

  /** Starts the shared count at that path in this process. */
  async startCount(path: string, seed: number): Promise<void> {
    const count = this.client.sharedCount(path, seed);
    await count.start();
    this.counts.set(path, count);
  }

  /** Sets a shared count that was started. */
  async setCount(path: string, value: number): Promise<void> {
    await this.counts.get(path)!.setCount(value);
  }
}

/** An owner of locks on ZooKeeper. */
export function zooKeeperActor(client: TestClient, locks: Locks, recipes: Recipes): CommandedActor {
  const held = new HeldLeases();
  /** Revocations of each lease that were not reported yet. */
  const revocations = new Map<Lease, number>();
  const untold = (lease: Lease) => revocations.get(lease) ?? 0;

  return (what) => ({
    acquire: (wait, permits) => {
      const lock = locks.get(what);
      const counts = lock.identity.recipe === 'semaphore';
      const options = { wait: waitOf(wait), permits: counts ? Number(permits) : undefined };
      return held.acquire(what, () => lock.acquire(options));
    },
    release: () => held.release(what),
    participants: async () => (await locks.get(what).participants!()).join(' '),
    makeRevocable: () => {
      const lease = held.of(what) as ZooKeeperLease;
      lease.makeRevocable(() => revocations.set(lease, untold(lease) + 1));
    },
    revoked: async (within) => {
      const lease = held.of(what);
      try {
        await eventually('revoked', () => untold(lease) > 0, { within: Number(within) });
      } catch {
        return 'timeout';
      }
      revocations.set(lease, untold(lease) - 1);
      return 'revoked';
    },
    revoke: () => client.locks.revoke(what),
    startCount: (seed) => locks.startCount(what, Number(seed)),
    setCount: (value) => locks.setCount(what, Number(value)),
    session: () => client.connection.session!.id,
    work: (port, name) => Worker.work(locks.get(what), Number(port), name, sequence),
    rest: () => Worker.rest(),
    ...recipes.find(what),
  });
}

/** Number of the node that the lease is held by. */
function sequence(lease: Lease): number {
  return Number((lease as ZooKeeperLease).paths[0]!.slice(-10));
}
