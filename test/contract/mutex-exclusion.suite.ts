import { expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LockTimeoutError } from '../../lib/core/errors/index.js';
import type { LockStage } from './lock-stage.js';
import type { StageClient } from './stage-client.js';

/**
 * One holder at a time, in the order of the queue.
 *
 * @param isFair is that one queue? Else there is one for each client
 */
export function mutexExclusionSuite(stage: () => LockStage, isFair = true): void {
  it('lets one of two clients in, and the other when that one lets go (Curator: test2Clients)', async () => {
    const { mine, theirs, key } = stage();
    const first = await mine.lock(key).acquire();
    const { lease: waiting } = await stage().queue(theirs);
    expect(await theirs.lock(key).tryAcquire()).toBeUndefined();

    await first.release();
    const second = await waiting;
    expect([first.isHeld, second.isHeld]).toEqual([false, true]);
    expect(await mine.lock(key).tryAcquire()).toBeUndefined();
    await second.release();
  });

  it('lets ten users of one mutex object in one by one (Curator: testReentrantSingleLock)', async () => {
    const { mine, key } = stage();
    const mutex = mine.lock(key);
    const room = new Room();
    await Promise.all(Array.from({ length: 10 }, () => mutex.using(() => room.visit())));
    expect(room).toMatchObject({ visits: 10, mostAtOnce: 1 });
  });

  it('keeps out a second acquire of the same client that is not inside of the first (Curator: testReentrant2Threads)', async () => {
    const { mine, key } = stage();
    await using _ = await mine.lock(key).acquire();
    expect(await mine.lock(key).tryAcquire()).toBeUndefined();
    await expect(mine.lock(key).acquire({ wait: 20 })).rejects.toBeInstanceOf(LockTimeoutError);
  });

  it('is another one in another namespace (Curator: testWithNamespace)', async () => {
    const { mine, theirs, key } = stage();
    const inside = await stage().client({ namespace: `namespace-of-${key}` });
    await using outer = await mine.lock(key).acquire();
    await using inner = await inside.lock(key).acquire();
    expect([outer.isHeld, inner.isHeld]).toEqual([true, true]);
    expect(await theirs.lock(key).tryAcquire()).toBeUndefined();
    expect(await inside.lock(key).tryAcquire()).toBeUndefined();
  });

  it('loses no update of five clients that read, then write', async () => {
    const { key } = stage();
    const clients = await fiveClients();
    const room = new Room();
    const work = clients.flatMap((client) =>
      Array.from({ length: 8 }, () => client.lock(key).using(() => room.visit())),
    );
    await Promise.all(work);
    expect(room).toMatchObject({ visits: 40, mostAtOnce: 1 });
  });

  const whom = isFair ? '50 waiters of five clients' : '50 waiters, those of each of five clients';
  it(`serves ${whom} in the order they queued`, async () => {
    const { mine } = stage();
    const clients = await fiveClients();
    const first = await mine.lock(stage().key).acquire();
    const served: number[] = [];
    const visits: Promise<void>[] = [];
    for (let visitor = 0; visitor < 50; visitor++) {
      const { lease } = await stage().queue(clients[visitor % clients.length]!);
      visits.push(
        lease.then(async (held) => {
          served.push(visitor);
          await held.release();
        }),
      );
    }
    await first.release();
    await Promise.all(visits);
    const inOrder = Array.from({ length: 50 }, (_, visitor) => visitor);
    if (isFair) return expect(served).toEqual(inOrder);
    const ofClient = (client: number) => (visitor: number) => visitor % clients.length === client;
    for (const client of clients.keys())
      expect(served.filter(ofClient(client))).toEqual(inOrder.filter(ofClient(client)));
  });

  async function fiveClients(): Promise<StageClient[]> {
    const { mine, theirs } = stage();
    const others = await Promise.all([1, 2, 3].map(() => stage().client()));
    return [mine, theirs, ...others];
  }
}

/** Counts its visitors by reading and writing in different turns, as a database would. */
class Room {
  visits = 0;
  mostAtOnce = 0;
  #inside = 0;

  async visit(): Promise<void> {
    this.#inside += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#inside);
    const { visits } = this;
    await nextTurn();
    this.visits = visits + 1;
    this.#inside -= 1;
  }
}
