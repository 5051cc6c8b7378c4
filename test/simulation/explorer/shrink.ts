/** A run, and the promise that was broken. */
interface Run<Step> {
  readonly steps: readonly Step[];
  readonly accusation?: string;
}

/**
 * Leaves out of a failed run what does not matter: steps, as long as the same promise is broken (delta debugging: Zeller, Hildebrandt,
 * Simplifying and Isolating Failure-Inducing Input, 2002). First many at once, then one by one, until each of them matters.
 *
 * @param replay takes those steps again
 */
export async function shrink<Step, R extends Run<Step>>(
  replay: (steps: readonly Step[]) => Promise<R>,
  failure: R & Run<Step>,
): Promise<R> {
  let best = failure;
  for (let size = Math.ceil(best.steps.length / 2); size > 1; size = Math.ceil(size / 2))
    best = await shrinkBy(size, replay, best);
  for (let before; before !== best; best = await shrinkBy(1, replay, best)) before = best;
  return best;
}

/** Leaves out that many steps at a time, from the last on. A step that is not possible any more is skipped. */
async function shrinkBy<Step, R extends Run<Step>>(
  size: number,
  replay: (steps: readonly Step[]) => Promise<R>,
  failure: R,
): Promise<R> {
  let best = failure;
  for (let end = best.steps.length; end > 0; end = Math.min(end - size, best.steps.length)) {
    const start = Math.max(0, end - size);
    const report = await replay(best.steps.toSpliced(start, end - start));
    if (isSame(report, failure) && report.steps.length < best.steps.length) best = report;
  }
  return best;
}

/** Whether the same promise is broken. */
function isSame({ accusation }: Run<unknown>, failure: Run<unknown>): boolean {
  return accusation !== undefined && kindOf(accusation) === kindOf(failure.accusation!);
}

/** What is said of a broken promise, without what differs from run to run. */
const kindOf = (accusation: string): string =>
  accusation.replace(/\/\S+/g, '…').replace(/\d+(\.\d+)?/g, 'n');
