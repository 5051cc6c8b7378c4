import type { Peer } from '../support/peer.js';
import type { Recipe } from './recipe.js';

/** The servers that a fleet contends on. */
export interface Ground {
  /** Starts one more process, connected to them. */
  startPeer(language: 'node' | 'java'): Promise<Peer>;
  /** Returns a path or name for the lock of that run, after creating what has to exist before. */
  prepare(recipe: Recipe, run: number): Promise<string>;
  /** Checks what that process holds of the lock now; the result then reports whether the servers have ended all of it. */
  holdsOf(peer: Peer, path: string): Promise<() => Promise<boolean>>;
  /** Removes what was prepared, as far as nothing else depends on it. */
  clear(): Promise<void>;
  /** What locks left on the servers, as a text to compare. */
  traces(): Promise<string>;
  /** Stops what it started; the servers stay. */
  close(): Promise<void>;
}
