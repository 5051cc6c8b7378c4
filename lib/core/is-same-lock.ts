import type { LockIdentity } from './lock-identity.js';

/** Do both stand for the same lock of the same client? */
export function isSameLock(a: LockIdentity, b: LockIdentity): boolean {
  return a.scope === b.scope && a.recipe === b.recipe && a.name === b.name;
}
