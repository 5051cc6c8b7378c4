import type { Wait } from '../../../lib/core/lock.js';

/** The wait given by a command: in ms, below 0 forever. */
export function waitOf(word: string): Wait {
  const wait = Number(word);
  return wait < 0 ? 'forever' : wait;
}
