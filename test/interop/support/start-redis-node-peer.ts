import { fileURLToPath } from 'node:url';
import { Peer } from './peer.js';
import type { RedisPeerOptions } from './redis-peer-options.js';

/** A Node process with this library, on one server, or on a cluster that has these nodes. */
export function startRedisNodePeer(
  urls: readonly string[],
  { watchdogTimeout = 30_000, isRedLock = false }: RedisPeerOptions = {},
): Promise<Peer> {
  const loader = new URL('../../support/typescript-loader.mjs', import.meta.url).href;
  const main = isRedLock ? 'red-lock-main' : 'main';
  const program = fileURLToPath(new URL(`../redis-node/${main}.ts`, import.meta.url));
  return Peer.start(process.execPath, [
    '--import',
    loader,
    program,
    String(watchdogTimeout),
    ...urls,
  ]);
}
