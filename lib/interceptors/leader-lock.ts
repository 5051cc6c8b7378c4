import type { Lease } from '../core/index.js';
import type { LeaderTarget, LockPlan } from '../interfaces/lock-plan.interface.js';
import type { LeaderElection } from '../leader-election.js';
import type { LeaderElections } from '../leader-elections.js';
import { nameMethod } from './name-method.js';

/** The leadership of the app as a lock: it is had at once, or not at all. */
export class LeaderLock {
  readonly #election: LeaderElection;

  /** @throws LockClientUnknownError, LockKeyError naming the method */
  constructor(plan: LockPlan, { key }: LeaderTarget, elections: LeaderElections) {
    const { options, method } = plan;
    this.#election = nameMethod(plan, () => {
      const election = elections.of(key, options, method);
      election.join(method);
      return election;
    });
  }

  get key(): string {
    return this.#election.name;
  }

  async tryAcquire(): Promise<Lease | undefined> {
    return this.#election.enter();
  }
}
