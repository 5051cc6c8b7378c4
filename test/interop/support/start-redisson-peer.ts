import { Peer } from './peer.js';
import type { RedisPeerOptions } from './redis-peer-options.js';
import { redissonClassPath } from './redisson-build.js';

/** A Java process with Redisson, on one server, or on a cluster that has these nodes. */
export async function startRedissonPeer(
  urls: readonly string[],
  { watchdogTimeout = 30_000, isRedLock = false }: RedisPeerOptions = {},
): Promise<Peer> {
  const classPath = redissonClassPath();
  if (!classPath) throw new Error('The Java peer for Redisson was not built.');
  return Peer.start('java', [
    '-Xmx128m',
    '-XX:+UseSerialGC',
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
    '-cp',
    classPath,
    isRedLock ? 'interop.RedLockPeer' : 'interop.Peer',
    String(watchdogTimeout),
    ...urls,
  ]);
}
