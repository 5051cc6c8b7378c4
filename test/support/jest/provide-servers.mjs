// Jest's global set-up: what runs without Jest is compiled; where the tests may install servers, those that are missing are
// installed before any runs; and ZooKeeper is prepared for many starts.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import compile, { compiled } from '../compile.mjs';

export default async function provideServers() {
  compile();
  installMissing();
  if (!hasZooKeeper()) return;
  const { archiveClasses } = await import(compiled(resolve('test/support/zookeeper-server.ts')));
  await archiveClasses();
}

const hasZooKeeper = () =>
  isThere('java', '-version') &&
  (process.env.ZOOKEEPER_HOME || existsSync('/usr/share/java/zookeeper.jar'));

function installMissing() {
  const redis = process.env.REDIS_SERVER || isThere('redis-server', '--version');
  const mayInstall = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
  if ((hasZooKeeper() && redis) || !mayInstall) return; // without them, each test that needs a server says what to do

  const install = ['test/support/install.sh', '--servers'];
  const { status } = spawnSync('bash', install, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error(`bash ${install.join(' ')} failed`);
}

function isThere(program, versionOption) {
  return spawnSync(program, [versionOption]).status === 0;
}
