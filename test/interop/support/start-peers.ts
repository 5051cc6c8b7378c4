import { resolve } from 'node:path';
import {
  type CuratorRelease,
  curatorClassPath,
  pythonWithKazoo,
  redissonClassPath,
} from './builds.js';
import type { RedisDriver } from '../../../lib/redis/drivers.js';
import { compiled } from '../../support/compiled.js';
import { Peer } from './peer.js';

/** Default of the session timeouts, in ms. */
const SESSION_TIMEOUT = 10_000;

/** A Node process with this library on ZooKeeper. */
export function startNodePeer(connect: string, sessionTimeout = SESSION_TIMEOUT): Promise<Peer> {
  return startNode('node/main.ts', connect, String(sessionTimeout));
}

/** A Java process with that release of Curator. */
export async function startCuratorPeer(
  release: CuratorRelease,
  connect: string,
  sessionTimeout = SESSION_TIMEOUT,
): Promise<Peer> {
  const classPath = curatorClassPath(release);
  if (!classPath) throw new Error(`The Java peer for Curator ${release} was not built.`);
  return startJava(classPath, 'interop.Peer', connect, String(sessionTimeout));
}

/** A Python process with kazoo, with Curator's node names for its locks. */
export function startKazooPeer(connect: string, sessionTimeout = SESSION_TIMEOUT): Promise<Peer> {
  const main = resolve('test/interop/kazoo/peer.py');
  return Peer.start(pythonWithKazoo()!, [main, connect, String(sessionTimeout)]);
}

/** Settings of a peer on Redis. */
export interface RedisPeerOptions {
  /** Duration of its renewed leases, in ms. Default 30,000. */
  readonly watchdogTimeout?: number;
  /** Whether the servers are independent, so that each lock is one on a majority of them. Default false. */
  readonly isRedLock?: boolean;
  /** What a Node process connects with. Default `ioredis`. */
  readonly driver?: RedisDriver;
}

/** Starts a process on one server, on a cluster that has these nodes, or on independent servers. */
export type StartRedisPeer = (urls: readonly string[], options?: RedisPeerOptions) => Promise<Peer>;

/** A Node process with this library on Redis. */
export const startRedisNodePeer: StartRedisPeer = (
  urls,
  { watchdogTimeout = 30_000, isRedLock = false, driver = 'ioredis' } = {},
) =>
  startNode(
    'redis-node/main.ts',
    isRedLock ? 'redLock' : 'locks',
    driver,
    String(watchdogTimeout),
    ...urls,
  );

/** A Java process with Redisson. */
export const startRedissonPeer: StartRedisPeer = async (
  urls,
  { watchdogTimeout = 30_000, isRedLock = false } = {},
) => {
  const classPath = redissonClassPath();
  if (!classPath) throw new Error('The Java peer for Redisson was not built.');
  const main = isRedLock ? 'interop.RedLockPeer' : 'interop.Peer';
  return startJava(classPath, main, String(watchdogTimeout), ...urls);
};

function startNode(program: string, ...args: readonly string[]): Promise<Peer> {
  return Peer.start(process.execPath, [compiled(resolve('test/interop', program)), ...args]);
}

function startJava(classPath: string, main: string, ...args: readonly string[]): Promise<Peer> {
  return Peer.start('java', [
    '-Xmx128m',
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
    '-cp',
    classPath,
    main,
    ...args,
  ]);
}
