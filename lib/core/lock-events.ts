import type { LockLostError } from './errors/index.js';

/** What a lock client tells its listeners. */
export interface LockEvents {
  /** A lock was granted after `waitedMs`. Re-entries are not told. */
  acquired: { readonly key: string; readonly waitedMs: number };
  /** Somebody is ahead: the acquire has begun to wait in the queue. Told once an acquire. */
  contended: { readonly key: string };
  /** A lock was given back after `heldMs`. */
  released: { readonly key: string; readonly heldMs: number };
  /** A held lock may no longer be exclusive. */
  lost: { readonly key: string; readonly error: LockLostError };
  /** An acquire ended without a grant: timeout, abort, closing, connection. */
  failed: { readonly key: string; readonly waitedMs: number; readonly error: unknown };
  /** The connection to the servers changed its state. */
  connection: { readonly state: string; readonly reason: string };
}
