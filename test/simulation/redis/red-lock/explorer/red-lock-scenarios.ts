import type { RedLockFault } from './red-lock-faults.js';
import type { RedLockGuest } from './red-lock-guest.js';

/** How large a world is. */
export interface RedLockSize {
  readonly clients: number;
  /** How many users there are, of the clients in turn. Default: one of each. */
  readonly requests?: number;
  /** How many faults a run may have. */
  readonly faults: number;
  /** Of which kinds. Default: all. */
  readonly kinds?: readonly RedLockFault[];
}

/** A small world, in which every order of steps is explored. */
export interface RedLockScenario {
  /** Whether no user waits: waiters queue at the first server that has answered, so that the servers are not alike. */
  readonly isOfTries?: boolean;
  /** Whether all users do the same. */
  readonly isOfLikes: boolean;
  /** Whether the first user has the lock on all servers from the beginning. */
  readonly isHeld?: boolean;
  /** What the user with that number does. */
  life(number: number, guest: RedLockGuest): Promise<void>;
}

export const KEY = 'a';

/** The small worlds to explore: a mutex on three servers. */
export const RED_LOCK_SCENARIOS = {
  mutex: { isOfLikes: true, life: (_, guest) => guest.visit(KEY) },
  /** Each holder asks for its fencing token. */
  'mutex with tokens': {
    isOfLikes: true,
    life: (_, guest) => guest.visit(KEY, { isFenced: true }),
  },
  'mutex of those who try': {
    isOfTries: true,
    isOfLikes: true,
    life: (_, guest) => guest.visit(KEY, { how: 'tries' }),
  },
  /** The holder keeps it. */
  'mutex of those who try once': {
    isOfTries: true,
    isOfLikes: true,
    life: (_, guest) => guest.visit(KEY, { how: 'tries', isLasting: true }),
  },
  /** Each holder asks for its fencing token. */
  'mutex with tokens of those who try': {
    isOfTries: true,
    isOfLikes: true,
    life: (_, guest) => guest.visit(KEY, { how: 'tries', isFenced: true }),
  },
  /** The others wait for the first, or come after it. */
  'mutex that is held': { isHeld: true, isOfLikes: false, life: (_, guest) => guest.visit(KEY) },
  /** The others try, while the first releases it, before and after that. */
  'mutex that is held, of those who try': {
    isHeld: true,
    isOfTries: true,
    isOfLikes: false,
    life: (_, guest) => guest.visit(KEY, { how: 'tries' }),
  },
  /** The same, and they keep it. */
  'mutex that is held, of those who try once': {
    isHeld: true,
    isOfTries: true,
    isOfLikes: false,
    life: (number, guest) => guest.visit(KEY, { how: 'tries', isLasting: number > 0 }),
  },
  /** Each holder asks for its fencing token. */
  'mutex with tokens that is held, of those who try once': {
    isHeld: true,
    isOfTries: true,
    isOfLikes: false,
    life: (number, guest) =>
      guest.visit(KEY, { how: 'tries', isFenced: true, isLasting: number > 0 }),
  },
  /** All may give up. */
  'mutex of the impatient': {
    isOfLikes: true,
    life: (_, guest) => guest.visit(KEY, { how: 'may give up' }),
  },
} satisfies Record<string, RedLockScenario>;

export type RedLockScenarioName = keyof typeof RED_LOCK_SCENARIOS;
