import type { Lock } from '../../../lib/core/lock.js';
import type { SharedCount } from '../../../lib/zookeeper/shared/shared-count.js';
import type { ZooKeeperLockClient } from '../../../lib/zookeeper/zookeeper-lock-client.js';

type Participants = { participants?(): Promise<string[]> };

/**
 * The locks of this process by their specifications: `mutex:/a`, `read:/a`, `write:/a`, `semaphore#3:/a`,
 * `semaphore#/n:/a` (as many permits as the shared count at `/n` says), `semaphoreMutex:/a`, and `mutex:/a+write:/b` for a
 * multi-lock.
 */
export class Locks {
  private readonly counts = new Map<string, SharedCount>();

  constructor(private readonly client: ZooKeeperLockClient) {}

  get(specification: string): Lock & Participants {
    const parts = specification.split('+');
    if (parts.length > 1) return this.client.multiLock(parts.map((part) => this.get(part)));
    const [, recipe, permits, path] = /^(\w+)(?:#([^:]+))?:(.+)$/.exec(specification) ?? [];
    switch (recipe) {
      case 'mutex':
        return this.client.mutex(path!);
      case 'read':
        return this.client.readWriteLock(path!).readLock();
      case 'write':
        return this.client.readWriteLock(path!).writeLock();
      case 'semaphore':
        return this.client.semaphore(path!, {
          permits: this.counts.get(permits!) ?? Number(permits),
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
