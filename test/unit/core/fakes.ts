import type { ElectionBackend, Participant } from '../../../lib/core/election/election-backend.js';
import { LockAbortedError } from '../../../lib/core/errors/index.js';
import type { Candidate } from '../../../lib/core/internal/client-lifecycle.js';
import { Hold, type HoldBackend } from '../../../lib/core/internal/hold.js';
import { LeaseHandle } from '../../../lib/core/internal/lease-handle.js';
import { OrderedSet } from '../../../lib/core/collections/ordered-set.js';
import { Waiters } from '../../../lib/core/internal/waiter-limits.js';
import type { WaitScope } from '../../../lib/core/internal/wait-scope.js';
import type { LockIdentity } from '../../../lib/core/lock.js';
import { Deferred, VirtualClock } from '../../support/time.js';

/** A backend with its facts in the hands of the test. */
export class Ledger implements HoldBackend {
  isExclusiveNow = true;
  freed = 0;
  asked = 0;
  losses = 0;
  token: () => Promise<bigint> = async () => 7n;

  isExclusive(): boolean {
    return this.isExclusiveNow;
  }

  fencingToken(): Promise<bigint> {
    this.asked += 1;
    return this.token();
  }

  lost(): void {
    this.losses += 1;
  }

  async free(): Promise<void> {
    this.freed += 1;
  }
}

const SCOPE = {};

/** A lock that has been granted, and what its backend is asked. */
export function granted(name = 'door', scope: object = SCOPE) {
  const ledger = new Ledger();
  const identity: LockIdentity = { scope, recipe: 'mutex', name };
  const hold = new Hold(identity, { key: name, client: 'unit' }, ledger);
  return { ledger, identity, hold, lease: new LeaseHandle(hold) };
}

/** An election with its outcome in the hands of the test, in virtual time. */
export class FakeElection implements ElectionBackend {
  readonly key = 'chair';
  readonly id = 'candidate';
  readonly clock = new VirtualClock();
  readonly waits = new OrderedSet<WaitScope>();
  readonly context = {
    client: 'unit',
    clock: this.clock,
    accepts: 'all' as const,
    waits: this.waits,
    waiters: new Waiters('unit', {}),
    candidates: new OrderedSet<Candidate>(),
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

  /** From now on `confirm` waits for what this returns. */
  delayAnswer(): Deferred {
    const answer = new Deferred();
    this.answer = answer.promise;
    return answer;
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
