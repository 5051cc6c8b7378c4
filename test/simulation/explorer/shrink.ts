import { replay } from './exploration.js';
import type { RunReport } from './run.js';
import type { Scenario } from './scenarios.js';

/** What is said of a broken promise, without what differs from run to run. */
export const kindOf = (accusation: string): string =>
  accusation.replace(/\/\S+/g, '…').replace(/\d+(\.\d+)?/g, 'n');

/**
 * Leaves out of a failed run what does not matter: steps, as long as the same promise is broken (delta debugging: Zeller, Hildebrandt,
 * Simplifying and Isolating Failure-Inducing Input, 2002). A step that is not possible any more is skipped.
 */
export async function shrink(scenario: Scenario, failure: RunReport): Promise<RunReport> {
  const kind = kindOf(failure.accusation!);
  let best = failure;
  for (
    let size = Math.ceil(best.steps.length / 2);
    size >= 1;
    size = size > 1 ? Math.ceil(size / 2) : 0
  ) {
    for (let at = best.steps.length - size; at > -size; at -= size) {
      const from = Math.max(0, at);
      const steps = best.steps.toSpliced(from, at + size - from);
      const report = await replay(scenario, steps);
      const isSame = report.accusation !== undefined && kindOf(report.accusation) === kind;
      if (isSame && report.steps.length < best.steps.length) {
        best = report;
        at = Math.min(at, best.steps.length);
        if (size === 1) at = best.steps.length; // others may be superfluous now
      }
    }
  }
  return best;
}
