import type { Model } from './linearizability.js';

export type NumberAction =
  | { readonly does: 'get' }
  | { readonly does: 'add'; readonly delta: number }
  | { readonly does: 'set'; readonly value: number }
  | { readonly does: 'compareAndSet'; readonly expected: number; readonly value: number };

/** What an atomic number says: what it was and is now. `undefined`: it was not changed. */
export type NumberAnswer = { readonly before: number; readonly now: number } | 'unchanged';

/**
 * An atomic number. That it was not changed proves nothing: others may only have been quicker, again and again; but
 * `compareAndSet` tries until it finds another value.
 */
export const atomicNumber: Model<number, NumberAction, NumberAnswer> = {
  initial: 0,
  apply(state, action, answer) {
    if (answer === 'unchanged')
      return action.does === 'compareAndSet' && state === action.expected ? undefined : state;
    const now = changed(state, action);
    if (answer === undefined) return now;
    return answer.before === state && answer.now === now ? now : undefined;
  },
};

function changed(state: number, action: NumberAction): number {
  switch (action.does) {
    case 'get':
      return state;
    case 'add':
      return state + action.delta;
    case 'set':
      return action.value;
    case 'compareAndSet':
      return state === action.expected ? action.value : state;
  }
}

export type PermitsAction =
  | { readonly does: 'tryAcquire' | 'release'; readonly permits: number }
  | { readonly does: 'drain' | 'available' };

/** Free permits: `tryAcquire` says whether it got its own, the others how many there are, or were. */
export const freePermits = (
  permits: number,
): Model<number, PermitsAction, boolean | number | 'released'> => ({
  initial: permits,
  apply(free, action, answer) {
    const fits = (truth: boolean | number, after: number) =>
      answer === undefined || answer === truth ? after : undefined;
    switch (action.does) {
      case 'tryAcquire': {
        const isThere = free >= action.permits;
        return fits(isThere, isThere ? free - action.permits : free);
      }
      case 'release':
        return free + action.permits;
      case 'drain':
        return fits(free, 0);
      case 'available':
        return fits(free, free);
    }
  },
});

export type LatchAction =
  | { readonly does: 'trySetCount'; readonly count: number }
  | { readonly does: 'countDown' | 'getCount' };

/** A latch: it is set only while it is open, and its count does not fall below 0. */
export const latch: Model<number, LatchAction, boolean | number> = {
  initial: 0,
  apply(count, action, answer) {
    const fits = (truth: boolean | number, after: number) =>
      answer === undefined || answer === truth ? after : undefined;
    switch (action.does) {
      case 'trySetCount':
        return fits(count === 0, count === 0 ? action.count : count);
      case 'countDown':
        return fits(Math.max(0, count - 1), Math.max(0, count - 1));
      case 'getCount':
        return fits(count, count);
    }
  },
};
