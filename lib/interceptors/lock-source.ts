import type { Lock } from '../core/index.js';

/** Gives the lock that a call with these arguments takes. An error of the user's key function comes out as it is. */
export type LockSource = (args: unknown[]) => Lock;
