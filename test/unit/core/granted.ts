import { LeaseHandle } from '../../../lib/core/internal/lease-handle.js';
import { Hold, type HoldBackend } from '../../../lib/core/internal/hold.js';
import type { LockIdentity } from '../../../lib/core/lock.js';

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
