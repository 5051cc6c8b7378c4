/** Closes a run with one plain line of totals. A file that could not even run counts as one failure. */
export default class TotalReporter {
  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const total = [`${results.numPassedTests} passed`, `${failed} failed`];
    if (skipped > 0) total.push(`${skipped} skipped`);
    // Jest's own summary comes after every reporter.
    process.once('exit', () => process.stdout.write(`${total.join(', ')}\n`));
  }
}
