import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const JEST = [
  '--experimental-vm-modules',
  'node_modules/jest/bin/jest.js',
  '--runInBand',
  '--json',
];
const CONFIG = ['--config', 'test/unit/docs/support/jest.config.js'];

/** What is used of Jest's report. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly unknown[];
  }[];
}

/**
 * Runs test files on the source of the library, all in one run of Jest; resolves to what it says of the failures of each: an
 * empty text where all of its tests pass.
 */
export async function runTests(files: readonly string[]): Promise<string[]> {
  const folder = mkdtempSync(resolve('test/unit/docs/program-')); // inside, for the packages that they import
  try {
    files.forEach((code, i) => writeFileSync(join(folder, `${i}.documented.ts`), code));
    const run = promisify(execFile)(process.execPath, [...JEST, ...CONFIG, folder]);
    const { stdout } = await run.catch((failure: unknown) => failure as { stdout: string });
    const { testResults } = JSON.parse(stdout) as Report;
    const said = new Map(
      testResults.map(({ name, message, assertionResults }) => [
        basename(name),
        assertionResults.length === 0 ? `No test was run. ${message}` : message,
      ]),
    );
    return files.map((_, i) => said.get(`${i}.documented.ts`) ?? 'It was not run.');
  } finally {
    rmSync(folder, { recursive: true });
  }
}
