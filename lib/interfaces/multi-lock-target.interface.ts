import type { LockMember } from './lock-member.interface.js';

/** Several locks that a decorator asks for, as one. */
export interface MultiLockTarget {
  readonly recipe: 'multiLock';
  /** What they are, or a function of the method's arguments that gives that. */
  readonly members: readonly LockMember[] | ((...args: never[]) => unknown);
}
