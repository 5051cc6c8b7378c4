import type { LockLostError } from './errors/index.js';
import { isElection, type LockRecipe } from './lock.js';

/** Which lock an event is about, and whose. */
export interface LockSubject {
  /** Key of the lock, as the user gave it. */
  readonly key: string;
  readonly recipe: LockRecipe;
  /** Who asked: the `method` of the acquire. The decorators give class and method. */
  readonly method?: string;
  /** In an election: the id of the latch or selector that stands for it. */
  readonly participant?: string;
}

/** What a lock client tells its listeners. */
export interface LockEvents {
  /** A lock was granted after `waitedMs`. Re-entries are not told. */
  acquired: LockSubject & { readonly waitedMs: number };
  /** Somebody is ahead: the acquire has begun to wait in the queue. Told once an acquire. */
  contended: LockSubject;
  /** A lock was given back after `heldMs`. */
  released: LockSubject & { readonly heldMs: number };
  /** A held lock may no longer be exclusive. */
  lost: LockSubject & { readonly error: LockLostError; readonly heldMs: number };
  /** An acquire ended without a grant: timeout, abort, closing, connection. */
  failed: LockSubject & { readonly waitedMs: number; readonly error: unknown };
  /** The connection to the servers changed its state, or could not. */
  connection: {
    readonly state: string;
    readonly reason: string;
    /** Of several independent servers, which one: 1 is the first of `nodes`. */
    readonly server?: number;
  };
}

/**
 * The messages of the channels of `node:diagnostics_channel`: what each client of the process tells its listeners, and the
 * name of the client.
 *
 * @example
 * ```ts
 * subscribe('nestjs-interlock:lost', (message) => {
 *   const { client, key } = message as LockDiagnostics['nestjs-interlock:lost'];
 * });
 * ```
 */
export type LockDiagnostics = {
  readonly [E in keyof LockEvents as `nestjs-interlock:${E}`]: LockEvents[E] & {
    readonly client: string;
  };
};

/**
 * A new object. What is added to it at every acquire or release is assigned, not spread: see `withDefaultWait`.
 *
 * @param asker the `method` of the acquire; in an election it is the id of the participant, which is no piece of code
 */
export function lockSubject(key: string, recipe: LockRecipe, asker?: string): LockSubject {
  return isElection(recipe) ? { key, recipe, participant: asker } : { key, recipe, method: asker };
}
