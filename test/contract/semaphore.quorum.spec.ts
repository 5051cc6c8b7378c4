import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { LockTimeoutError } from '../../lib/core/errors/index.js';
import { CriticalSection } from '../integration/support/critical-section.js';
import { eventually } from '../support/eventually.js';
import { ZooKeeperEnsemble } from '../support/zookeeper-ensemble.js';
import { Stage } from './stage.js';
import { ZooKeeperBackend } from './zookeeper-backend.js';
import { ZooKeeperSemaphoreStage } from './zookeeper-semaphore-stage.js';

/**
 * The cases of Curator's TestInterProcessSemaphoreCluster, but for the ensemble that is replaced by another one under a
 * running client: the servers of ours are given once.
 */
describe('A semaphore on an ensemble that loses its quorum', () => {
  let ensemble: ZooKeeperEnsemble;
  let stage: Stage;
  const semaphores = new ZooKeeperSemaphoreStage(() => stage);

  beforeAll(async () => {
    ensemble = await ZooKeeperEnsemble.start({ containerCheckIntervalMs: 60_000 });
    stage = await Stage.build(new ZooKeeperBackend(ensemble.servers));
  }, 60_000);
  afterAll(() => stage.stop());
  beforeEach(() => stage.reset());
  afterEach(() => stage.closeClients());

  it('grants nothing without it, takes nothing away, and goes on with it (Curator: testCluster)', async () => {
    const { mine, theirs } = stage;
    const third = await stage.client();
    const clients = [mine, theirs, third]; // on a server each
    const section = new CriticalSection();
    let isOver = false;
    const kept = await semaphores.of(mine, 3).acquire();
    const visits = clients.map(() => 0);
    const workers = clients.map(async (client, n) => {
      while (!isOver) {
        await semaphores.of(client, 3).using(async () => {
          section.enter(`client ${n}`);
          await client.connection.sync('/').catch(() => {}); // which fails without a quorum
          visits[n]! += 1;
          section.leave();
        });
      }
    });
    const allWorkOn = () => {
      const sofar = [...visits];
      return eventually(
        'every client has had a permit 3 times more',
        () => visits.every((count, n) => count >= sofar[n]! + 3),
        { within: 20_000 },
      );
    };
    await allWorkOn();

    const [first, second] = ensemble.servers;
    await Promise.all([first!.kill(), second!.kill()]);
    await eventually('no client is connected', () =>
      clients.every(({ connection }) => !connection.isConnected),
    );
    await expect(semaphores.of(third, 3).acquire({ wait: 100 })).rejects.toBeInstanceOf(
      LockTimeoutError,
    );
    const stopped = [...visits];
    expect([kept.isHeld, kept.signal.aborted]).toEqual([true, false]);

    await Promise.all([first!.restart(), second!.restart()]);
    await allWorkOn();
    isOver = true;
    await Promise.all(workers);
    expect(visits.every((count, n) => count > stopped[n]!)).toBe(true);
    expect(section.most).toBeLessThanOrEqual(2); // the third permit was kept
    expect(kept.isHeld).toBe(true);
    await kept.release();
    await semaphores.nodesBecome({ leases: 0, gate: 0 });
  }, 60_000);
});
