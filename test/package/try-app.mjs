import { execFile } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Installs an app of `apps` in a folder of its own, from its lock file, adds the tarball as its users would, and runs
 * its tests.
 */
export async function tryApp(name, folder, tarball) {
  const app = join(folder, name);
  cpSync(join(import.meta.dirname, 'apps', name), app, { recursive: true });
  const quiet = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  for (const args of [
    ['ci', ...quiet],
    ['install', '--no-save', ...quiet, tarball],
    ['test', '--silent'],
  ]) {
    try {
      await run('npm', args, { cwd: app });
    } catch (error) {
      const said = `${error.stdout}${error.stderr}`;
      throw new Error(`${name}: npm ${args[0]} failed.\n${said}`, { cause: error });
    }
  }
}
