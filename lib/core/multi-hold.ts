import type { LockLostError } from './errors/index.js';
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
    this.#stopListening = leases.map(({ signal, key }) => {
      const tell = () => this.hold.lose(`its part "${key}" was lost`);
      if (signal.aborted)
        tell(); // since it was found to be held
      else signal.addEventListener('abort', tell, { once: true });
      return () => signal.removeEventListener('abort', tell);
    });
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
