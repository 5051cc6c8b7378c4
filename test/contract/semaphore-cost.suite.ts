import { expect, it } from '@jest/globals';
import type { Client } from './client.js';
import type { Stage } from './stage.js';
import { ZooKeeperSemaphoreStage } from './zookeeper-semaphore-stage.js';

/** As few requests as can be, and no more of them the longer the queue is. */
export function semaphoreCostSuite(stage: () => Stage): void {
  const semaphores = new ZooKeeperSemaphoreStage(stage);

  it('is a gate, a lease and one look, and both taken away, when permits are free', async () => {
    const { mine } = stage();
    const cycle = () => asked(mine, () => semaphores.of(mine, 2).using(async () => {}));
    await cycle(); // makes the directories
    await cycle(); // learns that it is alone at the gate
    const [gate, lease] = ['locks', 'leases'];
    const expected = ['create', 'create', 'getChildren', 'delete', 'delete'];
    expect(await cycle()).toEqual(
      [gate, lease, lease, gate, lease].map((where, n) => `${expected[n]} ${where}`),
    );
  });

  it('is a lease for each of several permits, and still one look', async () => {
    const { mine } = stage();
    const cycle = () =>
      asked(mine, () => semaphores.of(mine, 3).using(async () => {}, { permits: 3 }));
    for (let round = 0; round < 2; round++) await cycle();
    expect((await cycle()).filter((it) => it === 'getChildren leases')).toHaveLength(1);
  });

  it('is no gate for tryAcquire', async () => {
    const { mine } = stage();
    const semaphore = semaphores.of(mine, 1);
    await semaphore.using(async () => {}); // makes the directories
    const attempt = async () => (await semaphore.tryAcquire())!.release();
    expect(await asked(mine, attempt)).toEqual([
      'create leases',
      'getChildren leases',
      'delete leases',
    ]);
  });

  it('is no watch for a tryAcquire that finds none free', async () => {
    const { mine, theirs } = stage();
    await using _ = await semaphores.of(theirs, 2).acquire({ permits: 2 });
    expect(await semaphores.of(mine, 2).tryAcquire()).toBeUndefined();
    expect(mine.requests.filter((request) => 'watch' in request && request.watch)).toEqual([]);
  });

  it('is a look at the leases for the first waiter, and none for the others', async () => {
    const { mine, theirs } = stage();
    const held = [await semaphores.of(mine, 2).acquire(), await semaphores.of(mine, 2).acquire()];
    const { lease: front } = await semaphores.queue(mine, 2);
    await semaphores.nodesBecome({ leases: 3, gate: 1 });
    const waiting: Promise<AsyncDisposable>[] = [];
    const queueing = await asked(theirs, async () => {
      for (let n = 0; n < 10; n++) {
        const { lease } = await semaphores.queue(theirs, 2);
        waiting.push(lease);
      }
    });
    expect(queueing.filter((it) => it.endsWith('leases'))).toEqual([]);
    const served = await asked(theirs, async () => {
      await held[0]!.release();
      await front;
      await stage().caughtUp(theirs);
    });
    expect(served.filter((it) => it.endsWith('leases')).length).toBeLessThanOrEqual(3); // create, look, listen
    await held[1]!.release();
    await (await front).release();
    for (const lease of waiting) await (await lease)[Symbol.asyncDispose]();
  });

  /** The requests sent meanwhile, each with its directory. */
  async function asked(client: Client, work: () => Promise<unknown>): Promise<string[]> {
    const before = client.requests.length;
    await work();
    return client.requests.slice(before).map(({ op, path }) => {
      const [directory] = path.slice(stage().path.length + 1).split('/');
      return `${op} ${directory}`;
    });
  }
}
