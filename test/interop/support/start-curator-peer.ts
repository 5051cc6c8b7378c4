import { curatorClassPath, type CuratorRelease } from './curator-build.js';
import { Peer } from './peer.js';

/** A Java process with that release of Curator. */
export async function startCuratorPeer(
  release: CuratorRelease,
  connect: string,
  sessionTimeout = 10_000,
): Promise<Peer> {
  const classPath = curatorClassPath(release);
  if (!classPath) throw new Error(`The Java peer for Curator ${release} was not built.`);
  return Peer.start('java', [
    '-Xmx128m',
    '-XX:+UseSerialGC',
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
    '-cp',
    classPath,
    'interop.Peer',
    connect,
    String(sessionTimeout),
  ]);
}
