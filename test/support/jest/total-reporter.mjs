const MOST_FAILURES = 20;

/**
 * Closes a run with the tests that failed, each with the command that runs it again, and one plain line of totals. A file that
 * could not even run counts as one failure.
 */
export default class TotalReporter {
  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const total = [`${results.numPassedTests} passed`, `${failed} failed`];
    if (skipped > 0) total.push(`${skipped} skipped`);
    const lines = [...failures(results), total.join(', ')];
    // Jest's own summary comes after every reporter.
    process.once('exit', () => process.stdout.write(`${lines.join('\n')}\n`));
  }
}

function failures({ testResults }) {
  const failed = testResults.flatMap(({ testFilePath, testExecError, testResults: tests }) => {
    const file = testFilePath.slice(process.cwd().length + 1);
    if (testExecError) return [failure(file)];
    return tests.filter(({ status }) => status === 'failed').map((test) => failure(file, test));
  });
  const more = failed.length - MOST_FAILURES;
  return more > 0 ? [...failed.slice(0, MOST_FAILURES), `and ${more} more`] : failed;
}

function failure(file, test) {
  const title = test ? [...test.ancestorTitles, test.title].join(' › ') : 'did not run';
  const script = process.env.npm_lifecycle_event ?? 'test';
  const command = [`npm run ${script} --`, file];
  // Jest compares the pattern with the titles, joined by spaces.
  if (test) command.push('-t', quoted(`^${escaped(test.fullName)}$`));
  return `FAILED ${file} › ${title}\n  again: ${command.join(' ')}`;
}

const escaped = (title) => title.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

const quoted = (argument) => `'${argument.replaceAll("'", `'\\''`)}'`;
