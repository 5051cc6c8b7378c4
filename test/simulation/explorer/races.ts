import type { Footprint } from './footprint.js';

/** A step of a run. */
export interface Taken {
  step: string;
  /** What it has read and changed; all if time has passed after it. */
  footprint?: Footprint | undefined;
  /** Of each step before: whether it must come before this one, which depends on it, or on one that must come after it. */
  after?: readonly boolean[] | undefined;
}

/** Two steps of a run of which the second one might have come first. */
interface Race {
  /** Where the first of the two was taken. */
  readonly at: number;
  /** There, runs in which the second comes first may begin with any of these that is possible. */
  readonly firsts: readonly string[];
}

/**
 * The races of a run: two steps that depend on each other, with none between them that must come after the first and before the second.
 *
 * It is not known here which message was sent because of which step. But if the first has caused the second, or what comes before that,
 * none of `firsts` is possible where the first was taken.
 *
 * @param from the first step that may be the second of a race
 */
export function racesOf(run: readonly Taken[], from: number): Race[] {
  const races: Race[] = [];
  for (let j = from; j < run.length; j++) {
    const { step } = run[j]!;
    const after = (run[j]!.after = orderOf(run, j));
    for (let i = 0; i < j; i++) {
      if (!after[i] || run[i]!.step === step) continue;
      const between = range(i + 1, j);
      if (between.some((k) => run[k]!.after![i] && after[k])) continue;
      const moved = [...between.filter((k) => !run[k]!.after![i]), j];
      const firsts = moved.filter((k) => !moved.some((m) => m < k && run[k]!.after![m]));
      races.push({ at: i, firsts: firsts.map((k) => run[k]!.step) });
    }
  }
  return races;
}

function orderOf(run: readonly Taken[], j: number): boolean[] {
  const { step, footprint } = run[j]!;
  const after = new Array<boolean>(j).fill(false);
  for (let i = j - 1; i >= 0; i--) {
    const one = run[i]!;
    if (after[i] || (one.step !== step && one.footprint!.isIndependentOf(footprint!))) continue;
    after[i] = true;
    for (const [k, isBefore] of one.after!.entries()) if (isBefore) after[k] = true;
  }
  return after;
}

const range = (first: number, end: number) =>
  Array.from({ length: end - first }, (_, i) => first + i);
