import type { ElectionBackend, Participant } from '../../core/election/election-backend.js';
import type { LeaseHandle } from '../../core/internal/lease-handle.js';
import type { AcquireOptions } from '../../core/lock.js';

/** A lock that does not re-enter, and who holds it, by the `method` that it asked with. */
export interface ElectionLock {
  readonly key: string;
  acquire(options: AcquireOptions): Promise<LeaseHandle>;
  holderIds(): Promise<string[]>;
}

/**
 * A renewed lock as an election: who holds it is elected. It is the weaker kind: exclusive as far as the clocks, and a failover
 * that forgets the lock, allow; and the others are elected in no order.
 */
export class RedisElection implements ElectionBackend {
  /** An interruption changes nothing: it is the lease that counts, by our clock. */
  readonly isHealthy = true;

  constructor(
    readonly context: ElectionBackend['context'],
    private readonly lock: ElectionLock,
    readonly id: string,
  ) {}

  get key(): string {
    return this.lock.key;
  }

  onHealthChange(): () => void {
    return () => {};
  }

  elect(signal: AbortSignal): Promise<LeaseHandle> {
    return this.lock.acquire({ wait: 'forever', signal, method: this.id });
  }

  async confirm(): Promise<void> {}

  async participants(): Promise<Participant[]> {
    return (await this.lock.holderIds()).map((id) => ({ id, isLeader: true }));
  }
}
