import type { Wait } from '../../../lib/core/lock.js';

/** The wait that a command names: in ms, below 0 for ever. */
export function waitOf(word: string): Wait {
  const wait = Number(word);
  return wait < 0 ? 'forever' : wait;
}
