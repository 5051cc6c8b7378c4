import type { ElectionBackend, Participant } from '../../core/election/election-backend.js';
import type { LeaseHandle } from '../../core/internal/lease-handle.js';
import type { AcquireOptions } from '../../core/lock.js';

/** A lock that is not reentrant, and its holders, identified by the `method` of their acquires. */
interface ElectionLock {
  readonly key: string;
  acquire(options: AcquireOptions): Promise<LeaseHandle>;
  holderIds(): Promise<string[]>;
}

/**
 * A renewed lock as an election: the holder is the leader. It is the weaker kind: exclusive as far as the clocks, and a
 * failover that forgets the lock, allow; and the other candidates are elected in no particular order.
 */
export class RedisElection implements ElectionBackend {
  /** Always true: an interruption changes nothing, as only the lease counts, by the local clock. */
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
