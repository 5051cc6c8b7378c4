import { fileURLToPath } from 'node:url';
import { Peer } from './peer.js';
import { pythonWithKazoo } from './python-with-kazoo.js';

/** A Python process with kazoo, with Curator's node names for its locks. */
export function startKazooPeer(connect: string, sessionTimeout = 10_000): Promise<Peer> {
  const main = fileURLToPath(new URL('../kazoo/peer.py', import.meta.url));
  return Peer.start(pythonWithKazoo()!, [main, connect, String(sessionTimeout)]);
}
