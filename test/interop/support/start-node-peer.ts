import { fileURLToPath } from 'node:url';
import { Peer } from './peer.js';

/** A Node process with this library. */
export function startNodePeer(connect: string, sessionTimeout = 10_000): Promise<Peer> {
  const loader = new URL('../../support/typescript-loader.mjs', import.meta.url).href;
  const main = fileURLToPath(new URL('../node/main.ts', import.meta.url));
  return Peer.start(process.execPath, ['--import', loader, main, connect, String(sessionTimeout)]);
}
