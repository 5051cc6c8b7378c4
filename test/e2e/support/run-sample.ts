import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** More than any sample needs; one that hangs must not outlive the tests. */
const LIMIT = 80_000;

/** What a sample said that ended by itself. */
export interface SampleOutput {
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program of a sample, until it ends.
 *
 * @throws what it said, when its exit code is not 0
 */
export async function runSample(
  program: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd = '.',
): Promise<SampleOutput> {
  return promisify(execFile)(process.execPath, program, {
    cwd,
    env: { ...process.env, ...env },
    timeout: LIMIT,
    killSignal: 'SIGKILL',
  });
}
