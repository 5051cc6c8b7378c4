import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** Where Maven builds the peer with Curator, one folder for each release of Curator. */
const TARGET = resolve('test/interop/java/target');

/**
 * The newest release, and the one that Debian packages: before 5.5.0, a queued writer got past a downgraded reader. Both come
 * from Maven, not the older one from Debian's jars: that is the same release, and one way to build serves every system.
 */
export const CURATOR_RELEASES = ['5.9.0', '5.4.0'] as const;

export type CuratorRelease = (typeof CURATOR_RELEASES)[number];

/** File with the class path of the libraries; it exists once the peer was built. */
export function classPathFile(release: CuratorRelease): string {
  return resolve(TARGET, `${release}/classpath`);
}

/** Java class path of the peer; undefined where it was not built. */
export function curatorClassPath(release: CuratorRelease): string | undefined {
  const file = classPathFile(release);
  if (!existsSync(file)) return undefined;
  return `${resolve(TARGET, release, 'classes')}:${readFileSync(file, 'utf8')}`;
}

/** Where Maven builds the peer with Redisson. */
const REDISSON_TARGET = resolve('test/interop/redisson-java/target');

/** File with the class path of the libraries; it exists once the peer was built. */
export const redissonClassPathFile = resolve(REDISSON_TARGET, 'classpath');

/** Java class path of the peer; undefined where it was not built. */
export function redissonClassPath(): string | undefined {
  if (!existsSync(redissonClassPathFile)) return undefined;
  const libraries = readFileSync(redissonClassPathFile, 'utf8');
  return `${resolve(REDISSON_TARGET, 'classes')}:${libraries}`;
}

/** A Python that can import kazoo: the one on the path, or the system's, for which distributions package it. */
export function pythonWithKazoo(): string | undefined {
  return ['python3', '/usr/bin/python3'].find(
    (python) => spawnSync(python, ['-c', 'import kazoo']).status === 0,
  );
}
