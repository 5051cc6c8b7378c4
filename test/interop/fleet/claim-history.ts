/** The time in which one candidate leads, by what it was elected by. */
export interface Term {
  readonly token: bigint;
  readonly worker: string;
}

/**
 * Who claimed to lead, in the order in which the claims came in. The fencing token judges: once somebody has claimed with a
 * newer one, nobody may claim with an older one, and two never with the same. Whoever guards a store by the token refuses
 * just these claims.
 */
export class ClaimHistory {
  /** In words; empty when all went well. */
  readonly faults: string[] = [];
  /** The oldest first. */
  readonly terms: Term[] = [];
  claims = 0;
  /** How often a candidate told that it leads no longer. */
  losses = 0;
  /** Older claims of candidates that had stood still and could not know yet: there, only the token helps. */
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
   * That worker goes on after it stood still, with a library that does not look at the clock: until it has learnt what it
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
