import type {
  ElectionBackend,
  LeaderOptions,
  Participant,
} from '../../core/election/election-backend.js';
import type { LeaseHandle } from '../../core/internal/lease-handle.js';
import { untilAborted } from '../../core/internal/timers.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import type { RecipeContext } from '../recipe-context.js';
import type { LockHold } from './lock-hold.js';
import type { LockInternals } from './lock-internals.js';

/** An election on the queue of a lock: the first node is elected. The nodes carry the ids as data. */
export class ZooKeeperElection implements ElectionBackend {
  constructor(
    readonly context: RecipeContext,
    private readonly queue: LockInternals,
    readonly id: string,
    private readonly errorPolicy: LeaderOptions['errorPolicy'],
  ) {}

  get key(): string {
    return this.queue.settings.key;
  }

  get isHealthy(): boolean {
    return this.errorPolicy === 'session' || this.context.connection.isConnected;
  }

  onHealthChange(listener: (why: string) => void): () => void {
    return this.context.connection.onStateChange((state, reason) =>
      listener(`the connection is ${state} (${reason})`),
    );
  }

  elect(signal: AbortSignal): Promise<LeaseHandle> {
    return this.queue.acquire({ wait: 'forever', signal, method: this.id });
  }

  confirm({ hold }: LeaseHandle, signal: AbortSignal): Promise<void> {
    return untilAborted((hold.backend as LockHold).confirm(), signal); // our queue made the hold
  }

  async participants(): Promise<Participant[]> {
    const ids = (await this.queue.participants()).map((path) => this.#idOf(path));
    const there = (await Promise.all(ids)).filter((id) => id !== undefined);
    return there.map((id, i) => ({ id, isLeader: i === 0 }));
  }

  async #idOf(path: string): Promise<string | undefined> {
    try {
      return (await this.context.connection.getData(path)).data.toString();
    } catch (error) {
      if (ZooKeeperError.is(error, ReturnCode.NONODE)) return undefined; // deleted since
      throw error;
    }
  }
}
