import { execFileSync } from 'node:child_process';

/** The version of the server that the tests run on: `[7, 0, 15]`. */
function redisVersion(): number[] {
  const program = process.env.REDIS_SERVER || 'redis-server';
  const [, version = ''] =
    /v=([\d.]+)/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' })) ?? [];
  return version.split('.').map(Number);
}

let known: number[] | undefined;

/** Do the tests run on a server of that version, such as `7.0`, or a newer one? */
export function sinceRedis(version: `${number}`): boolean {
  known ??= redisVersion();
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [ours = 0, oursMinor = 0] = known;
  return ours > major || (ours === major && oursMinor >= minor);
}
