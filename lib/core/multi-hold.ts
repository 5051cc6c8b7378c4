import type { LockLostError } from './errors/index.js';
import { HeldLease } from './held-lease.js';
import { Hold, type HoldBackend } from './hold.js';
import type { Lease } from './lease.js';
import type { LockIdentity } from './lock-identity.js';

/** Several leases held as one: lost as soon as one of them is, given back together. */
export class MultiHold implements HoldBackend {
  readonly hold: Hold<MultiHold>;
  readonly #stopListening: (() => void)[];

  /** @param leases in the order in which they were taken */
  constructor(
    identity: LockIdentity,
    key: string,
    private readonly leases: readonly Lease[],
  ) {
    this.hold = new Hold(identity, { key }, this);
    this.#stopListening = leases.map((lease) =>
      onLost(lease, () => this.hold.lose(`its part "${lease.key}" was lost`)),
    );
  }

  isExclusive(): boolean {
    return this.leases.every(({ isHeld }) => isHeld);
  }

  /** Each part's token grows with every grant, so the greatest of them does for the same parts. */
  async fencingToken(): Promise<bigint> {
    const tokens = await Promise.all(this.leases.map((lease) => lease.fencingToken()));
    return tokens.reduce((greatest, token) => (token > greatest ? token : greatest));
  }

  lost(_error: LockLostError): void {}

  async free(): Promise<void> {
    for (const stop of this.#stopListening) stop();
    await Promise.allSettled(this.leases.toReversed().map((lease) => lease.release()));
  }
}

/** Calls `tell` when the lease is lost, now if it is; the returned function takes that back. */
function onLost(lease: Lease, tell: () => void): () => void {
  if (lease instanceof HeldLease) {
    if (lease.hold.lost) tell();
    return lease.hold.onLost(tell);
  }
  const { signal } = lease; // of another copy of this package; where it is ours, that saves an AbortController
  if (signal.aborted) tell();
  else signal.addEventListener('abort', tell, { once: true });
  return () => signal.removeEventListener('abort', tell);
}
