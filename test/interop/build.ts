// The first half of `npm run test:interop`: builds the Java peers, and says which peers are left out, and why.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { classPathFile, CURATOR_RELEASES, type CuratorRelease } from './support/curator-build.js';
import { pythonWithKazoo } from './support/python-with-kazoo.js';

const missing = ['javac', 'mvn'].filter((tool) => spawnSync(tool, ['-version']).status !== 0);
for (const release of CURATOR_RELEASES) build(release);
if (!pythonWithKazoo()) leaveOut('kazoo', 'no Python 3 that has it (Debian: python3-kazoo)');

function build(release: CuratorRelease): void {
  const name = `Java (Curator ${release})`;
  rmSync(classPathFile(release), { force: true });
  if (missing.length > 0) return leaveOut(name, `no ${missing.join(', no ')} here`);
  const cwd = fileURLToPath(new URL('./java', import.meta.url));
  const args = ['-q', '-B', `-Dcurator.version=${release}`, 'compile'];
  const { status, stdout } = spawnSync('mvn', args, { cwd, encoding: 'utf8' });
  if (status === 0) return console.log(`Interop with ${name} is tested.`);
  if (!/Could not (transfer|find|resolve)/.test(stdout)) throw new Error(stdout);
  leaveOut(name, `Maven cannot download what it needs\n${stdout.split('\n', 1)[0]}`);
}

function leaveOut(name: string, why: string): void {
  console.log(`Interop with ${name} is LEFT OUT: ${why}`);
}
