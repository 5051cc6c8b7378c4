import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';
import type { Backend } from './backend.js';
import { EmbeddedBackend } from './embedded-backend.js';
import { Stage } from './stage.js';
import { ZooKeeperBackend } from './zookeeper-backend.js';
import { ZooKeeperSemaphoreStage } from './zookeeper-semaphore-stage.js';

/** How often the servers look for empty directories, in milliseconds. */
const INTERVAL = 50;

describe.each<[string, () => Promise<Backend>]>([
  ['the embedded tree', async () => new EmbeddedBackend({ containerInterval: INTERVAL })],
  [
    'a standalone server',
    async () => {
      const server = await ZooKeeperServer.start({ containerCheckIntervalMs: INTERVAL });
      return new ZooKeeperBackend([server]);
    },
  ],
])('The directories of a semaphore on %s', (_, makeBackend) => {
  let stage: Stage;
  const semaphores = new ZooKeeperSemaphoreStage(() => stage);

  beforeAll(async () => {
    stage = await Stage.build(await makeBackend());
  }, 60_000);
  afterAll(() => stage.stop());
  beforeEach(() => stage.reset());
  afterEach(() => stage.closeClients());

  const isCollected = (path: string) =>
    eventually(`${path} is collected`, async () => !(await stage.stranger.exists(path)));

  it('are collected when no client wants a permit any more, and made anew (Curator: testContainerCleanup)', async () => {
    const { mine, theirs, path } = stage;
    await Promise.all(
      [mine, theirs].map((client) => semaphores.of(client, 1).using(async () => {})),
    );
    await isCollected(path);
    await using lease = await semaphores.of(theirs, 1).acquire();
    expect(lease.isHeld).toBe(true);
    await isCollected(`${path}/locks`); // no waiter is at the gate
    expect(await semaphores.of(mine, 1).tryAcquire()).toBeUndefined();
    const { lease: waiting } = await semaphores.queue(mine, 1); // it makes the gate anew
    await semaphores.nodesBecome({ leases: 2, gate: 1 });
    await lease.release();
    await (await waiting).release();
  });

  it('may be missing or vanish at any time: every acquire gets through, and no more than there are', async () => {
    const { mine, theirs, path } = stage;
    let [inside, mostInside] = [0, 0];
    const visit = async () => {
      mostInside = Math.max(mostInside, ++inside);
      await stage.stranger.exists('/'); // a turn of the servers
      inside -= 1;
    };
    for (let round = 0; round < 24; round++) {
      if (round % 8 === 0) await isCollected(path);
      await Promise.all([
        semaphores.of(mine, 2).using(visit),
        semaphores.of(theirs, 2).using(visit, { permits: 2 }),
        semaphores.of(mine, 2).using(visit),
      ]);
      await using lease = await semaphores.of(theirs, 2).tryAcquire({ permits: 2 });
      expect(lease?.isHeld).toBe(true);
    }
    expect(mostInside).toBeLessThanOrEqual(2);
    await semaphores.nodesBecome({ leases: 0, gate: 0 });
  });
});
