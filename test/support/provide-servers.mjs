// Jest's global set-up: what runs without Jest is compiled; where the tests may install servers, those that are missing are
// installed before any runs.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import compile from './compile.mjs';

export default function provideServers() {
  compile();
  const java = isThere('java', '-version');
  const zooKeeper = process.env.ZOOKEEPER_HOME || existsSync('/usr/share/java/zookeeper.jar');
  const redis = process.env.REDIS_SERVER || isThere('redis-server', '--version');
  const mayInstall = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
  if ((java && zooKeeper && redis) || !mayInstall) return; // without them, each test that needs a server says what to do

  const install = ['test/support/install.sh', '--servers'];
  const { status } = spawnSync('bash', install, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error(`bash ${install.join(' ')} failed`);
}

function isThere(program, versionOption) {
  return spawnSync(program, [versionOption]).status === 0;
}
