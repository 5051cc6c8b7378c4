import { type Chooser, COVERED, DONE } from './choosers.js';
import type { RunReport } from './exploration.js';
import { Footprint } from './footprint.js';

/** Timers that were set a few steps one after the other fire at the same time, in ms. */
export const TOGETHER = 1;

interface Step {
  readonly name: string;
  /** Whether it comes to the same as another one. */
  readonly isCovered?: boolean;
}

/** One run of a small world. */
export interface WorldRun<S extends Step> {
  /** The steps that are possible now. */
  readonly possible: {
    /** While there are some, one of these or of the others is taken; without any, the run is over. */
    readonly due: readonly S[];
    readonly optional: readonly S[];
    readonly faults: readonly S[];
  };
  /** Whether a promise was broken. */
  readonly isAccused: boolean;
  readonly report: Omit<RunReport, 'isComplete' | 'steps'>;
  /** All clients connect, and all users are there. */
  begin(): Promise<void>;
  take(step: S): Promise<Footprint>;
  /** Time passes until something is possible, or all is over. Resolves to whether it did. */
  idle(): Promise<boolean>;
  /** @throws when a promise is broken */
  check(): void;
  accuse(what: string): void;
  /** All faults end, what is under way arrives, and nothing is left. */
  end(): Promise<void>;
  /** What lasts for the process is not to keep this world. */
  abandon(): Promise<void>;
}

/**
 * Carries out a run, step by step, as the chooser says.
 *
 * @param most far more steps than any run has where no client asks again and again
 */
export async function carryOut<S extends Step>(
  run: WorldRun<S>,
  chooser: Chooser,
  most: number,
): Promise<RunReport> {
  const steps: string[] = [];
  try {
    await run.begin();
    const isComplete = await takeSteps(run, chooser, steps, most);
    if (isComplete) await run.end();
    return { isComplete, steps, ...run.report };
  } catch (error) {
    const [accusation = ''] = (error as Error).message.split('\n');
    if (!run.isAccused) throw error;
    return { isComplete: true, steps, ...run.report, accusation };
  } finally {
    await run.abandon(); // of a process that has died, too, all would be kept
  }
}

/** Resolves to false if the rest was explored in another order. */
async function takeSteps<S extends Step>(
  run: WorldRun<S>,
  chooser: Chooser,
  names: string[],
  most: number,
): Promise<boolean> {
  for (;;) {
    const { due, optional, faults } = run.possible;
    if (due.length === 0) return true;
    const isOpen = ({ isCovered }: S) => !isCovered;
    const steps = [...due, ...optional, ...faults].filter(isOpen);
    const possible = new Map(steps.map((step) => [step.name, step]));
    const dues = due.filter(isOpen).length;
    const name = chooser.choose([...possible.keys()], faults.length, dues);
    if (name === DONE) return true;
    if (name === COVERED) return false;
    if (names.push(name) > most) run.accuse('the steps come to no end');
    const footprint = await run.take(possible.get(name)!);
    if (!chooser.isRepeating) run.check();
    chooser.took((await run.idle()) ? Footprint.ofAll : footprint);
  }
}
