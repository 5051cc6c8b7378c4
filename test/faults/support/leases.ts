import type { Lease } from '../../../lib/core/lease.js';
import { toldAt } from '../../support/time.js';

/** Those inside of one lock; notices when some are valid at a time that must not be. */
export class ValidLeases {
  /** What was noticed, in words. */
  readonly overlaps: string[] = [];
  private readonly inside = new Map<Lease, 'shared' | 'alone'>();
  private highestToken = 0n;

  enter(lease: Lease, isShared: boolean): void {
    this.inside.set(lease, isShared ? 'shared' : 'alone');
    this.look();
  }

  /** To be called just before it is released. */
  leave(lease: Lease): void {
    this.look();
    this.inside.delete(lease);
  }

  /** As a protected store, which has to refuse tokens that are not above the last, looks at a lease that is valid. */
  present(lease: Lease, token: bigint): void {
    if (!lease.isHeld) return;
    if (token <= this.highestToken)
      this.overlaps.push(`token ${token} is valid after ${this.highestToken}`);
    this.highestToken = token;
  }

  private look(): void {
    const valid = [...this.inside].filter(([lease]) => lease.isHeld).map(([, how]) => how);
    if (valid.length > 1 && valid.includes('alone')) this.overlaps.push(valid.join(' and '));
  }
}

/** What a lock is to protect: it notices when two are inside. */
export class CriticalSection {
  private inside = 0;
  /** The most that were ever inside at once. */
  most = 0;
  /** The visitors, in the order in which they came in. */
  readonly visitors: string[] = [];

  enter(visitor: string): void {
    this.visitors.push(visitor);
    this.most = Math.max(this.most, (this.inside += 1));
  }

  leave(): void {
    this.inside -= 1;
  }
}

/** Resolves when the lease is lost, to the time of that in ms since 1970, as a server on this machine has it. */
export function lossOf({ signal }: Lease): Promise<number> {
  return toldAt((told) => {
    if (signal.aborted) return told();
    signal.addEventListener('abort', told, { once: true });
  });
}
