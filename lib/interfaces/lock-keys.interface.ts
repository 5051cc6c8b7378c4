import type { LockKey } from './lock-key.interface.js';
import type { LockMember } from './lock-member.interface.js';

/**
 * What a call locks that takes several locks: at least one.
 *
 * - A list of keys as for `@WithMutex`: `['account:{0.id}', 'account:{1.id}']`.
 * - A function of the method's arguments, or of the first of them, that gives the list:
 *   `(from: Account, to: Account) => [from.id, to.id]`.
 */
export type LockKeys<A extends unknown[] = []> =
  readonly LockMember<LockKey<A>>[] | ((...args: A) => readonly LockMember<string>[]);
