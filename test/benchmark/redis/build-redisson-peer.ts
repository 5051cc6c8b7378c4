import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { redissonClassPath } from '../../interop/support/redisson-build.js';

const INTEROP = fileURLToPath(new URL('../../interop/redisson-java', import.meta.url));
const SOURCE = fileURLToPath(
  new URL('./java/benchmark/RedissonBenchmarkPeer.java', import.meta.url),
);
const CLASSES = fileURLToPath(new URL('./java/dist', import.meta.url));

/** The Java peer on Redisson, ready to run, or why there is none. */
export type RedissonBuild = { readonly classPath: string } | { readonly missing: string };

/** Compiles it against the Redisson that the interop tests have from Maven. */
export function buildRedissonPeer(): RedissonBuild {
  if (!runs('javac', '-version')) return { missing: 'no JDK' };
  if (redissonClassPath() === undefined) runs('mvn', '-q', '-B', '-f', INTEROP, 'compile');
  const libraries = redissonClassPath();
  if (libraries === undefined) return { missing: 'no Maven, or it cannot download what it needs' };
  if (!runs('javac', '-d', CLASSES, '-cp', libraries, SOURCE))
    return { missing: 'it does not compile' };
  return { classPath: `${CLASSES}:${libraries}` };
}

function runs(command: string, ...args: string[]): boolean {
  return spawnSync(command, args).status === 0;
}
