import { afterAll, beforeAll, beforeEach, describe } from '@jest/globals';
import { CURATOR_RELEASES, curatorClassPath, type CuratorRelease } from './curator-build.js';
import { Stage } from './stage.js';
import { startCuratorPeer } from './start-curator-peer.js';

/**
 * Describes what `name` does together with Java, once for each release of Curator. Where the Java peer was not built, its tests
 * are skipped, which `npm run test:interop` has reported.
 */
export function describeWithCurator(
  name: string,
  define: (stage: Stage, release: CuratorRelease) => void,
): void {
  for (const release of CURATOR_RELEASES) {
    const isBuilt = curatorClassPath(release) !== undefined;
    (isBuilt ? describe : describe.skip)(`${name} shared with Curator ${release}`, () => {
      const stage = new Stage();
      beforeAll(() => stage.start((connect) => startCuratorPeer(release, connect)), 60_000);
      afterAll(() => stage.stop());
      beforeEach(() => stage.reset());
      define(stage, release);
    });
  }
}
