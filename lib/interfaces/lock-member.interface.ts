import type { LockTarget } from './lock-target.interface.js';

/** One lock of several: a key, which means the mutex of that key, or a key with what else there is to say. */
export type LockMember<K = LockTarget['key']> = K | LockTarget<K>;
