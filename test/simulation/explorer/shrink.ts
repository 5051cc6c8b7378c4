import { replay } from './exploration.js';
import type { RunReport } from './run.js';
import type { Scenario } from './scenarios.js';

/**
 * Leaves out of a failed run what does not matter: steps, as long as the same promise is broken (delta debugging: Zeller, Hildebrandt,
 * Simplifying and Isolating Failure-Inducing Input, 2002). First many at once, then one by one, until each of them matters.
 */
export async function shrink(scenario: Scenario, failure: RunReport): Promise<RunReport> {
  let best = failure;
  for (let size = Math.ceil(best.steps.length / 2); size > 1; size = Math.ceil(size / 2))
    best = await shrinkBy(size, scenario, best);
  for (let before; before !== best; best = await shrinkBy(1, scenario, best)) before = best;
  return best;
}

/** Leaves out that many steps at a time, from the last on. A step that is not possible any more is skipped. */
async function shrinkBy(size: number, scenario: Scenario, failure: RunReport): Promise<RunReport> {
  let best = failure;
  for (let end = best.steps.length; end > 0; end = Math.min(end - size, best.steps.length)) {
    const start = Math.max(0, end - size);
    const report = await replay(scenario, best.steps.toSpliced(start, end - start));
    if (isSame(report, failure) && report.steps.length < best.steps.length) best = report;
  }
  return best;
}

/** Whether the same promise is broken. */
function isSame({ accusation }: RunReport, failure: RunReport): boolean {
  return accusation !== undefined && kindOf(accusation) === kindOf(failure.accusation!);
}

/** What is said of a broken promise, without what differs from run to run. */
const kindOf = (accusation: string): string =>
  accusation.replace(/\/\S+/g, '…').replace(/\d+(\.\d+)?/g, 'n');
