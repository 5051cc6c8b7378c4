import { percentile } from './percentile.js';

/** For each contestant, the middle one of the values that `valueOf` finds in its rounds. */
export function mediansOf<T>(
  measured: Readonly<Record<string, readonly T[]>>,
  valueOf: (round: T) => number,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(measured).map(([name, rounds]) => [name, percentile(rounds.map(valueOf), 0.5)]),
  );
}
