import { afterAll, beforeAll, beforeEach, describe } from '@jest/globals';
import { excludingSuite } from './support/excluding.suite.js';
import { pythonWithKazoo } from './support/python-with-kazoo.js';
import { Stage } from './support/stage.js';
import { startKazooPeer } from './support/start-kazoo-peer.js';

(pythonWithKazoo() ? describe : describe.skip)(
  "A mutex shared with kazoo, of which the lock has Curator's node name,",
  () => {
    const stage = new Stage();
    beforeAll(() => stage.start(startKazooPeer), 60_000);
    afterAll(() => stage.stop());
    beforeEach(() => stage.reset());

    excludingSuite(stage, {
      lock: (path) => `mutex:${path}`,
      queue: (path) => path,
      nodesOfHolder: 1,
    });
  },
);
