import { type LockErrorContext, LockOptionsError } from './errors/index.js';
import type { HandOff, MutexOptions } from './lock.js';
import { validateOptionNames } from './internal/option-names.js';

const MOST = 2 ** 31 - 1;
const EXPECTED =
  '{ atMost, for }, how many callers in a row and for how many ms, whole numbers from 1 to 2^31 - 1; or false';

/** @throws LockOptionsError */
export function validateHandOff(handOff: unknown, about?: LockErrorContext): void {
  if (handOff === undefined || handOff === false) return;
  if (typeof handOff !== 'object' || handOff === null)
    throw new LockOptionsError('handOff', handOff, EXPECTED, about);
  validateOptionNames(handOff, ['atMost', 'for'], about);
  const { atMost, for: ms } = handOff as HandOff;
  for (const bound of [atMost, ms])
    if (!(Number.isInteger(bound) && bound >= 1 && bound <= MOST))
      throw new LockOptionsError('handOff', bound, EXPECTED, about);
}

/**
 * The bounds within which a mutex goes from caller to caller: its own, else those of its client, which are not meant for one that
 * is fair or fenced.
 *
 * @throws LockOptionsError
 */
export function handOffOf(
  { handOff, fair, fenced }: MutexOptions,
  ofClient: HandOff | false | undefined,
  about?: LockErrorContext,
): HandOff | undefined {
  validateHandOff(handOff, about);
  const isSpecial = fair === true || fenced === true;
  if (handOff && isSpecial) {
    const expected = `none with \`${fair ? 'fair' : 'fenced'}\`: ${fair ? 'others would be passed by' : 'a token is for one caller'}`;
    throw new LockOptionsError('handOff', handOff, expected, about);
  }
  const chosen = handOff ?? (isSpecial ? undefined : ofClient);
  return chosen ? { atMost: chosen.atMost, for: chosen.for } : undefined;
}

/** What the callers of a client have had of a lock since the servers granted it. */
export interface HandOffs {
  /** When the servers granted it, by the clock of the client. */
  readonly since: number;
  /** How often it was handed on. */
  readonly times: number;
}

/** With one more; `undefined` if that is out of bounds. */
export function oneMore(
  bounds: HandOff | undefined,
  { since, times }: HandOffs,
  now: number,
): HandOffs | undefined {
  if (bounds === undefined || times >= bounds.atMost || now - since >= bounds.for) return undefined;
  return { since, times: times + 1 };
}
