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
