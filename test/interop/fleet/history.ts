import type { Inside, Recipe } from './recipes.js';

/**
 * The holders of the lock over time, in the order in which the workers report it: `begin` after a grant, `end` before the
 * release, and each of them waits until that is recorded. So a worker that is granted the lock correctly begins after the end
 * of those that it excludes, and an overlap in here is one of the lock. None can hide either: between its begin and its end a
 * worker holds the lock.
 */
export class History {
  /** As text; empty if there were none. */
  readonly faults: string[] = [];
  readonly grants = new Map<string, number>();
  /** How often a lease reported to its holder that the lock was lost. */
  losses = 0;
  private inside: Inside[] = [];
  /** Workers of which the servers have ended the hold, and that do not know yet. */
  private readonly ended = new Set<string>();
  /** How often each of them has left. */
  private readonly left = new Map<string, number>();
  private lastSequence = -1;

  /** @param locks the lock that each worker acquires */
  constructor(
    private readonly recipe: Recipe,
    private readonly locks: ReadonlyMap<string, string>,
  ) {}

  begin(worker: string, sequence: number): void {
    const lock = this.locks.get(worker)!;
    if (this.ended.has(worker)) this.faults.push(`${worker} went on with a lock that had ended`);
    if (!this.recipe.admits(lock, this.inside))
      this.faults.push(`${worker} came in where ${this.inside.map((it) => it.worker).join()} was`);
    if (this.recipe.isInRounds && !this.hasEndedRound(this.grants.get(worker) ?? 0))
      this.faults.push(`${worker} began a round before all had ended the last`);
    if (this.recipe.isOrdered && sequence <= this.lastSequence)
      this.faults.push(`${worker} with number ${sequence} came behind ${this.lastSequence}`);
    this.lastSequence = sequence;
    this.inside.push({ worker, lock });
    this.grants.set(worker, (this.grants.get(worker) ?? 0) + 1);
  }

  end(worker: string): void {
    if (this.ended.delete(worker)) this.faults.push(`${worker} took its lost lock for held`);
    this.leave(worker);
  }

  lost(worker: string): void {
    this.losses += 1;
    this.ended.delete(worker);
    this.leave(worker);
  }

  /** The servers have ended the hold of that worker: with its session, or its lease. */
  holdEnded(worker: string): void {
    this.ended.add(worker);
    this.leave(worker);
  }

  /** Whether each of the workers was granted the lock more often than in `then`. */
  hasServedAll(then: ReadonlyMap<string, number> = new Map()): boolean {
    return [...this.locks.keys()].every(
      (worker) => (this.grants.get(worker) ?? 0) > (then.get(worker) ?? 0),
    );
  }

  /** Whether all workers have ended that many rounds. */
  private hasEndedRound(round: number): boolean {
    return [...this.locks.keys()].every((worker) => (this.left.get(worker) ?? 0) >= round);
  }

  private leave(worker: string): void {
    this.left.set(worker, (this.left.get(worker) ?? 0) + 1);
    this.inside = this.inside.filter((one) => one.worker !== worker);
  }
}

/** The time for which one candidate leads, identified by its token. */
export interface Term {
  readonly token: bigint;
  readonly worker: string;
}

/**
 * The claims to lead, in the order of arrival. The fencing token judges: after a claim with a newer token no worker may claim
 * with an older one, and no two workers with the same. A store guarded by the token rejects exactly these claims.
 */
export class ClaimHistory {
  /** As text; empty if there were none. */
  readonly faults: string[] = [];
  /** The oldest first. */
  readonly terms: Term[] = [];
  claims = 0;
  /** How often a candidate reported that it leads no longer. */
  losses = 0;
  /** Older claims of candidates that were frozen and could not know yet: only the token protects from these. */
  unknowing = 0;
  private readonly mayNotKnow = new Set<string>();

  claim(worker: string, token: bigint): void {
    this.claims += 1;
    const newest = this.terms.at(-1);
    if (newest === undefined || token > newest.token) this.terms.push({ token, worker });
    else if (token < newest.token) this.outdated(worker, token, newest);
    else if (worker !== newest.worker)
      this.faults.push(`${worker} and ${newest.worker} both claim with ${token}`);
  }

  lost(worker: string): void {
    this.losses += 1;
    this.mayNotKnow.delete(worker);
  }

  /**
   * That worker continues after it was frozen, with a library that does not check the clock: until it has learned what it
   * missed, its older claims are no fault.
   */
  excuse(worker: string): void {
    this.mayNotKnow.add(worker);
  }

  private outdated(worker: string, token: bigint, newest: Term): void {
    if (this.mayNotKnow.has(worker)) this.unknowing += 1;
    else
      this.faults.push(
        `${worker} claims with ${token}, when ${newest.worker} leads with ${newest.token}`,
      );
  }
}
