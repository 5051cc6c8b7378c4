import { spawnSync } from 'node:child_process';

/** A Python that can import kazoo: the one on the path, or the system's, for which distributions package it. */
export function pythonWithKazoo(): string | undefined {
  return ['python3', '/usr/bin/python3'].find(
    (python) => spawnSync(python, ['-c', 'import kazoo']).status === 0,
  );
}
