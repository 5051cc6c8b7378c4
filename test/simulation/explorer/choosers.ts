import { seededRandom } from '../../support/seeded-random.js';
import { Footprint } from './footprint.js';

/** The run is not worth its end: the same one was explored in another order. */
export const COVERED = Symbol('covered');
/** No more steps: what is under way comes to its end. */
export const DONE = Symbol('done');

/**
 * What is left out, because it comes to the same as what is explored: nothing; all orders of independent steps but one; or also steps that
 * come to the same as others for a reason that is said where each is left out.
 */
export type Reduction = 'none' | 'orders' | 'all';

/** Chooses the steps of a run, in place of dice. */
export interface Chooser {
  /** Whether steps that come to the same as others are left out. */
  readonly isReduced: boolean;
  /** Whether the last step that was chosen was taken in an earlier run too, and judged there. */
  readonly isRepeating: boolean;
  /**
   * @param steps names of the possible steps, of which there is at least one; the usual one first
   * @param faults how many of the last ones are faults
   * @param due how many of the first ones are due: without any, the run ends or time passes
   */
  choose(
    steps: readonly string[],
    faults: number,
    due: number,
  ): string | typeof COVERED | typeof DONE;
  /** Called after each step that was chosen. */
  took(footprint: Footprint): void;
}

/** A state of the world, and what was explored from it. */
interface Place {
  readonly steps: readonly string[];
  /** Those for which the run goes on, and no time passes. */
  readonly due: ReadonlySet<string>;
  /** Steps that need not be taken here, because the runs with them were explored from an earlier place, in another order. */
  readonly asleep: ReadonlyMap<string, Footprint>;
  /** The steps from which all runs were explored. */
  readonly explored: Map<string, Footprint>;
  /** Those of them behind which something is due. */
  readonly leadingOn: Set<string>;
  step: string;
  footprint?: Footprint;
}

/**
 * All runs, depth first. There is no way back in a world that runs: each run repeats the steps of the one before it up to the last
 * place where there is something else to do.
 *
 * Of runs that differ only in the order of independent steps, one is explored, and seldom a second (sleep sets: Godefroid, Partial-Order
 * Methods for the Verification of Concurrent Systems, 1996): a step that was explored from a place need not be taken later from there,
 * until a step was taken that it depends on.
 */
export class DepthFirst implements Chooser {
  readonly #way: Place[] = [];
  #depth = 0;
  #isNew = true;

  constructor(private readonly reduction: Reduction = 'all') {}

  get isReduced(): boolean {
    return this.reduction === 'all';
  }

  get isRepeating(): boolean {
    return this.#depth < this.#way.length || !this.#isNew;
  }

  choose(steps: readonly string[], _faults: number, due: number): string | typeof COVERED {
    const known = this.#way[this.#depth];
    if (known) {
      if (known.steps.join() !== steps.join())
        throw new Error(
          `A run differs from its repetition: ${steps.join()}, not ${known.steps.join()}`,
        );
      this.#depth += 1;
      this.#isNew = known.footprint === undefined;
      return known.step;
    }
    const before = this.#way.at(-1);
    if (due > 0) before?.leadingOn.add(before.step);
    const asleep = this.#asleep();
    const step = steps.find((one) => !asleep.has(one));
    if (step === undefined) return COVERED;
    this.#way.push({
      steps,
      due: new Set(steps.slice(0, due)),
      asleep,
      explored: new Map(),
      leadingOn: new Set(),
      step,
    });
    this.#depth += 1;
    this.#isNew = true;
    return step;
  }

  took(footprint: Footprint): void {
    this.#way[this.#depth - 1]!.footprint ??=
      this.reduction === 'none' ? Footprint.ofAll : footprint;
  }

  /** Call it before each run but the first. False: all have been explored. */
  next(): boolean {
    this.#depth = 0;
    for (let place = this.#way.at(-1); place; place = this.#way.at(-1)) {
      const { steps, asleep, explored } = place;
      explored.set(place.step, place.footprint!);
      const next = steps.find((one) => !explored.has(one) && !asleep.has(one));
      if (next !== undefined) {
        place.step = next;
        place.footprint = undefined;
        return true;
      }
      this.#way.pop();
    }
    return false;
  }

  #asleep(): ReadonlyMap<string, Footprint> {
    const before = this.#way.at(-1);
    if (before === undefined) return new Map();
    const candidates = [...before.asleep, ...before.explored];
    return new Map(
      candidates.filter(
        ([step, footprint]) =>
          footprint.isIndependentOf(before.footprint!) && !this.#mustPrecede(step),
      ),
    );
  }

  /**
   * Whether the step that was taken last may be impossible behind the other one, although they do not depend on each other: if it is not
   * due, and the other was the only one that is, with nothing due behind it.
   *
   * If the other was explored from an earlier place, the step may have come there before one that was due, as one of those that led here
   * is: that run was explored behind the other. Where the other was explored from this place, that run is this one.
   */
  #mustPrecede(other: string): boolean {
    const way = [...this.#way];
    const { step, footprint, due, explored, leadingOn } = way.pop()!;
    if (due.has(step) || due.size > 1 || !due.has(other)) return false;
    if (explored.has(other)) return !leadingOn.has(other);
    for (let place = way.pop(); place; place = way.pop()) {
      if (!place.steps.includes(step) || !place.footprint!.isIndependentOf(footprint!)) return true;
      if (place.due.has(place.step)) return !place.due.has(other);
    }
    return true;
  }
}

/** Of a fault at each step of a run at random, so that they are early in some runs and late in others. */
const RISK = 0.1;

/** One run at random. */
export class RandomWalk implements Chooser {
  readonly isReduced = false;
  readonly isRepeating = false;
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  choose(steps: readonly string[], faults: number): string {
    const isFault = this.#random() < RISK;
    const choice =
      isFault && faults > 0 ? steps.slice(-faults) : steps.slice(0, steps.length - faults);
    return choice[Math.floor(this.#random() * choice.length)]!;
  }

  took(): void {}
}

/** Those steps, in that order, as far as they are possible. */
export class Script implements Chooser {
  readonly isReduced = false;
  readonly isRepeating = false;
  readonly #left: string[];

  constructor(steps: readonly string[]) {
    this.#left = [...steps];
  }

  choose(steps: readonly string[]): string | typeof DONE {
    for (let step = this.#left.shift(); step !== undefined; step = this.#left.shift())
      if (steps.includes(step)) return step;
    return DONE;
  }

  took(): void {}
}
