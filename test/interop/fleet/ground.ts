import type { Peer } from '../support/peer.js';
import type { Recipe } from './recipe.js';

/** The servers that a fleet contends on. */
export interface Ground {
  /** One more process, connected to them. */
  startPeer(language: 'node' | 'java'): Promise<Peer>;
  /** A path or name for the lock of that run, with what has to stand there before. */
  prepare(recipe: Recipe, run: number): Promise<string>;
  /** Looks at what that process holds of the lock now, afterwards tells whether the servers have ended all of it. */
  holdsOf(peer: Peer, path: string): Promise<() => Promise<boolean>>;
  /** Takes away what was prepared, as far as nothing else hangs on it. */
  clear(): Promise<void>;
  /** What locks have left on the servers, as a text to compare. */
  traces(): Promise<string>;
  /** Ends what it started; the servers stay. */
  close(): Promise<void>;
}
