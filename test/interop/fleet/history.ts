import type { Inside, Recipe } from './recipe.js';

/**
 * Who was inside of the lock when, in the order in which the workers tell it: `begin` after a grant, `end` before the
 * release, and each of them waits until that is written down. So whoever is granted the lock rightly begins after the end
 * of whom it excludes, and an overlap in here is one of the lock. None can hide either: between its begin and its end a
 * worker holds the lock.
 */
export class History {
  /** In words; empty when all went well. */
  readonly faults: string[] = [];
  readonly grants = new Map<string, number>();
  /** How often a holder was told by its lease that the lock was lost. */
  losses = 0;
  private inside: Inside[] = [];
  /** Workers whose hold the servers have ended, and who do not know yet. */
  private readonly ended = new Set<string>();
  /** How often each of them has left. */
  private readonly left = new Map<string, number>();
  private lastSequence = -1;

  /** @param locks what each worker takes */
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

  /** Has each of the workers been granted the lock once more than `then`? */
  hasServedAll(then: ReadonlyMap<string, number> = new Map()): boolean {
    return [...this.locks.keys()].every(
      (worker) => (this.grants.get(worker) ?? 0) > (then.get(worker) ?? 0),
    );
  }

  /** Has everybody ended so many rounds? */
  private hasEndedRound(round: number): boolean {
    return [...this.locks.keys()].every((worker) => (this.left.get(worker) ?? 0) >= round);
  }

  private leave(worker: string): void {
    this.left.set(worker, (this.left.get(worker) ?? 0) + 1);
    this.inside = this.inside.filter((one) => one.worker !== worker);
  }
}
