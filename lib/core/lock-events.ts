import type { EventLoopStall, LockDeadlockError, LockLostError } from './errors/index.js';
import { isElection, type LockRecipe } from './lock.js';

/** The lock of an event, and the caller that acquires it. */
export interface LockSubject {
  /** Key of the lock, as the user gave it. */
  readonly key: string;
  readonly recipe: LockRecipe;
  /** The `method` of the acquire. The decorators set class and method. */
  readonly method?: string | undefined;
  /** In an election: the id of the latch or selector that takes part in it. */
  readonly participant?: string | undefined;
}

/** Events of a lock client, by name. */
export interface LockEvents {
  /** A lock was granted after `waitedMs`. Not emitted for re-entries. */
  acquired: LockSubject & {
    readonly waitedMs: number;
    /** If another caller has handed it on (see `MutexOptions.handOff`): how often, since the servers have granted it. */
    readonly handOffs?: number | undefined;
  };
  /** The acquire started to wait in the queue. Emitted once per acquire. */
  contended: LockSubject;
  /** A lock was released after `heldMs`. */
  released: LockSubject & { readonly heldMs: number };
  /**
   * The servers have not confirmed a held lock for half of the time after which it is lost: of its lease on Redis, if it is renewed, of
   * the session on ZooKeeper. They do not answer, or this process did not ask, as its event loop was blocked (`stall`) or the machine
   * slept. Emitted once, until it is confirmed again.
   */
  endangered: LockSubject & {
    /** See `LockLostError.confirmedAgoMs`. */
    readonly confirmedAgoMs: number;
    /** Time after which it is lost unless they confirm it, in ms. */
    readonly safeForMs: number;
    /** The longest stall of the event loop since they have confirmed it, if there was one of 2 s or more. */
    readonly stall?: EventLoopStall | undefined;
  };
  /** A held lock may no longer be exclusive. */
  lost: LockSubject & { readonly error: LockLostError; readonly heldMs: number };
  /**
   * The acquire waits in a circle with others of this process or of several, and was the last of them to come. Emitted once, by its
   * client only: a quarter of a second later, or within 3 s if others are of another process, with the error that it is rejected
   * with if `onDeadlock` is `'reject'`.
   */
  deadlock: LockSubject & { readonly error: LockDeadlockError };
  /** An acquire ended without a grant: timeout, abort, closing, connection. */
  failed: LockSubject & { readonly waitedMs: number; readonly error: unknown };
  /** The connection to the servers changed its state, or failed to. */
  connection: {
    readonly state: string;
    readonly reason: string;
    /** Number of the server, with several independent servers: 1 is the first of `nodes`. */
    readonly server?: number | undefined;
  };
}

/**
 * Messages of the channels of `node:diagnostics_channel`: the events of each client of the process, with the name of the
 * client.
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
 * Creates a new object. Fields added to it at every acquire or release are assigned: a spread followed by more fields costs 0.5 µs.
 *
 * @param asker the `method` of the acquire; in an election the id of the participant, which names no code
 */
export function lockSubject(key: string, recipe: LockRecipe, asker?: string): LockSubject {
  return isElection(recipe) ? { key, recipe, participant: asker } : { key, recipe, method: asker };
}
