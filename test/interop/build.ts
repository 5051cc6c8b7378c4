// First part of `npm run test:interop`: builds the Java peers, and reports which peers are left out, and why.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  classPathFile,
  CURATOR_RELEASES,
  pythonWithKazoo,
  redissonClassPathFile,
} from './support/builds.js';

const missing = ['javac', 'mvn'].filter((tool) => spawnSync(tool, ['-version']).status !== 0);
for (const release of CURATOR_RELEASES)
  build(
    `Java (Curator ${release})`,
    'java',
    classPathFile(release),
    `-Dcurator.version=${release}`,
  );
build('Java (Redisson)', 'redisson-java', redissonClassPathFile);
if (!pythonWithKazoo()) leaveOut('kazoo', 'no Python 3 that has it (Debian: python3-kazoo)');

/** @param classPath the file that exists once it was built */
function build(name: string, folder: string, classPath: string, ...options: string[]): void {
  rmSync(classPath, { force: true });
  if (missing.length > 0) return leaveOut(name, `no ${missing.join(', no ')} here`);
  const cwd = resolve('test/interop', folder);
  const args = ['-q', '-B', ...options, 'compile'];
  const { status, stdout } = spawnSync('mvn', args, { cwd, encoding: 'utf8' });
  if (status === 0) return console.log(`Interop with ${name} is tested.`);
  if (!/Could not (transfer|find|resolve)/.test(stdout)) throw new Error(stdout);
  leaveOut(name, `Maven cannot download what it needs\n${stdout.split('\n', 1)[0]}`);
}

function leaveOut(name: string, why: string): void {
  console.log(`Interop with ${name} is LEFT OUT: ${why}`);
}
