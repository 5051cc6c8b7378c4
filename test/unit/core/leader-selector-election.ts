import { SwapRemoveSet } from '../../../lib/core/internal/swap-remove-set.js';
import type { ElectionBackend, Participant } from '../../../lib/core/election/election-backend.js';
import { LockAbortedError } from '../../../lib/core/errors/index.js';
import type { LeaseHandle } from '../../../lib/core/internal/lease-handle.js';
import type { WaitScope } from '../../../lib/core/internal/wait-scope.js';
import { Deferred } from '../../support/deferred.js';
import { VirtualClock } from '../../support/virtual-clock.js';
import { granted } from './granted.js';

/** An election with its outcome in the hands of the test, in virtual time. */
export class LeaderSelectorElection implements ElectionBackend {
  readonly key = 'chair';
  readonly id = 'candidate';
  readonly clock = new VirtualClock();
  readonly waits = new SwapRemoveSet<WaitScope>();
  readonly context = {
    client: 'unit',
    clock: this.clock,
    accepts: 'all' as const,
    waits: this.waits,
    wait: 'forever' as const,
  };
  /** The candidacies so far, in order; each is over when it is settled. */
  readonly candidacies: Deferred<LeaseHandle>[] = [];
  /** What `participants` answers. */
  known: Participant[] = [];
  /** The servers' answer to `confirm`. */
  answer: Promise<void> = Promise.resolve();
  confirmations = 0;
  readonly #listeners = new Set<(why: string) => void>();
  #isCertain = true;

  get isHealthy(): boolean {
    return this.#isCertain;
  }

  set isHealthy(value: boolean) {
    this.#isCertain = value;
    for (const listener of [...this.#listeners]) listener('the line is dead');
  }

  /** How many listen to it. */
  get listeners(): number {
    return this.#listeners.size;
  }

  onHealthChange(listener: (why: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  elect(signal: AbortSignal): Promise<LeaseHandle> {
    const candidacy = new Deferred<LeaseHandle>();
    this.candidacies.push(candidacy);
    signal.addEventListener('abort', () => candidacy.reject(new LockAbortedError()), {
      once: true,
    });
    return candidacy.promise;
  }

  async confirm(): Promise<void> {
    this.confirmations += 1;
    await this.answer;
  }

  async participants(): Promise<Participant[]> {
    return this.known;
  }

  /** Elects the last candidate, and lets that one go on. */
  async electNow(): Promise<ReturnType<typeof granted>> {
    const lock = granted(this.key);
    await this.clock.advance(0);
    this.candidacies.at(-1)!.resolve(lock.lease);
    await this.clock.advance(0);
    return lock;
  }
}
