import { type LockErrorContext, LockOptionsError } from './errors/index.js';
import type { HandOff, MutexOptions, ReadWriteLockOptions } from './lock.js';
import { validateOptionNames } from './internal/option-names.js';

/** Of all backends. */
const OF_MUTEXES = ['fair', 'fenced', 'handOff', 'data'];
const OF_READ_WRITE_LOCKS = ['handOff', 'preferWriters', 'data'];
const MOST = 2 ** 31 - 1;
const EXPECTED =
  '{ atMost, for, keep? }, how many callers in a row, for how many ms, and how long it is kept, whole numbers from 1 to 2^31 - 1; or false';

/** @throws LockOptionsError */
export function validateHandOff(handOff: unknown, about?: LockErrorContext): void {
  if (handOff === undefined || handOff === false) return;
  if (typeof handOff !== 'object' || handOff === null)
    throw new LockOptionsError('handOff', handOff, EXPECTED, about);
  validateOptionNames(handOff, ['atMost', 'for', 'keep'], about);
  const { atMost, for: ms, keep = 1 } = handOff as HandOff;
  for (const bound of [atMost, ms, keep])
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
  options: MutexOptions,
  ofClient: HandOff | false | undefined,
  about?: LockErrorContext,
): HandOff | undefined {
  validateOptionNames(options, OF_MUTEXES, about);
  const { handOff, fair, fenced } = options;
  validateHandOff(handOff, about);
  const isSpecial = fair === true || fenced === true;
  if (handOff && isSpecial) {
    const expected = `none with \`${fair ? 'fair' : 'fenced'}\`: ${fair ? 'others would be passed by' : 'a token is for one caller'}`;
    throw new LockOptionsError('handOff', handOff, expected, about);
  }
  const chosen = handOff ?? (isSpecial ? undefined : ofClient);
  return chosen ? { atMost: chosen.atMost, for: chosen.for, keep: chosen.keep } : undefined;
}

/**
 * The bounds within which callers share a read lock: its own, else those of its client. It is not kept.
 *
 * @throws LockOptionsError
 */
export function sharingOf(
  options: ReadWriteLockOptions,
  ofClient: HandOff | false | undefined,
  about?: LockErrorContext,
): HandOff | undefined {
  validateOptionNames(options, OF_READ_WRITE_LOCKS, about);
  const { handOff } = options;
  validateHandOff(handOff, about);
  if (handOff && (handOff as HandOff).keep !== undefined)
    throw new LockOptionsError(
      'handOff',
      handOff,
      'one without `keep`: a read lock is not kept',
      about,
    );
  const chosen = handOff ?? ofClient;
  return chosen ? { atMost: chosen.atMost, for: chosen.for } : undefined;
}

const nothing = () => {};

/** A lock between its grant by the servers and its release: the callers of one client have it in turn. */
export class Tenure {
  /** How often it was handed on. */
  handOffs = 0;
  /** Whether others were seen to want it; then it is kept no more. */
  isWanted = false;
  /** Called when they are. */
  onWanted?: (() => void) | undefined;
  /** Stops looking for them; set once that has begun. */
  stopLooking?: () => void;

  /** @param since when the servers granted it, by the clock of the client */
  constructor(readonly since: number) {}

  /** Whether the next caller may have it now. */
  mayGoOn({ atMost, for: ms }: HandOff, now: number): boolean {
    return this.handOffs < atMost && now - this.since < ms;
  }

  /** For how many ms it may be kept; 0 or less: not at all. */
  keepFor({ atMost, for: ms, keep = 0 }: HandOff, now: number): number {
    if (this.isWanted || this.handOffs >= atMost) return 0;
    return Math.min(keep, this.since + ms - now);
  }

  /** The lock is released, or lost; idempotent. */
  end(): void {
    this.stopLooking?.();
    this.stopLooking = nothing;
  }

  /** Records that others want it. */
  want(): void {
    this.isWanted = true;
    this.onWanted?.();
  }
}
