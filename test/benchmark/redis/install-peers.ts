import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('./peers/', import.meta.url));

/** Puts the other libraries where `peerLibraries` finds them; says why when it cannot. */
export function installPeers(): boolean {
  const { status, stderr } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit'], {
    cwd: FOLDER,
    encoding: 'utf8',
  });
  if (status !== 0) console.error(`The other libraries are left out: npm ci fails\n${stderr}`);
  return status === 0;
}
