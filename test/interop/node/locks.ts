import type { Lock } from '../../../lib/core/lock.js';
import type { ZooKeeperLockClient } from '../../../lib/zookeeper/zookeeper-lock-client.js';

type Participants = { participants?(): Promise<string[]> };

/**
 * The locks of this process by their specifications: `mutex:/a`, `read:/a`, `write:/a`, `semaphore#3:/a`,
 * `semaphoreMutex:/a`, and `mutex:/a+write:/b` for a multi-lock.
 */
export class Locks {
  constructor(private readonly client: ZooKeeperLockClient) {}

  get(specification: string): Lock & Participants {
    const parts = specification.split('+');
    if (parts.length > 1) return this.client.multiLock(parts.map((part) => this.get(part)));
    const [, recipe, permits, path] = /^(\w+)(?:#(\d+))?:(.+)$/.exec(specification) ?? [];
    switch (recipe) {
      case 'mutex':
        return this.client.mutex(path!);
      case 'read':
        return this.client.readWriteLock(path!).readLock();
      case 'write':
        return this.client.readWriteLock(path!).writeLock();
      case 'semaphore':
        return this.client.semaphore(path!, { permits: Number(permits) });
      case 'semaphoreMutex':
        return this.client.semaphoreMutex(path!);
      default:
        throw new Error(`No such recipe: ${specification}`);
    }
  }
}
