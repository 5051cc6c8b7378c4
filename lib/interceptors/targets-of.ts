import { LockOptionsError } from '../core/index.js';
import type { LockTarget } from '../interfaces/lock-key.interface.js';
import { validateLockTarget } from './validate-lock-target.js';

/**
 * The locks that the members of a multi-lock stand for. Their keys are not checked.
 *
 * @throws LockOptionsError
 */
export function targetsOf(members: unknown): LockTarget[] {
  if (!Array.isArray(members) || members.length === 0)
    throw new LockOptionsError('keys', members, 'an array of at least one key');
  const targets = members.map(targetOf);
  targets.forEach(validateLockTarget);
  return targets;
}

function targetOf(member: unknown): LockTarget {
  const isTarget = typeof member === 'object' && member !== null;
  return (isTarget ? member : { key: member }) as LockTarget; // which is checked next
}
