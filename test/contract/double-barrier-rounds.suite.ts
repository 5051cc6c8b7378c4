import { expect, it } from '@jest/globals';
import type { Client } from './client.js';
import type { DoubleBarrierStage } from './double-barrier-stage.js';
import type { Stage } from './stage.js';

const QTY = 5;

/** Members that begin together and end together. */
export function doubleBarrierRoundsSuite(stage: () => Stage, barriers: DoubleBarrierStage): void {
  /** Each of those members goes through so many rounds, and looks whether the others have come, and have gone. */
  async function goThrough(clients: readonly Client[], rounds = 1): Promise<void> {
    const come = new Array<number>(rounds).fill(0);
    const done = new Array<number>(rounds).fill(0);
    const gone = new Array<number>(rounds).fill(0);
    await Promise.all(
      clients.map(async (client) => {
        const barrier = barriers.of(client, QTY);
        for (let round = 0; round < rounds; round++) {
          come[round]! += 1;
          await barrier.enter({ wait: 60_000 });
          expect(come[round]).toBe(clients.length);
          expect(gone[round]).toBe(0);
          await stage().caughtUp(client); // some work, so that they do not go on in step
          done[round]! += 1;
          await barrier.leave({ wait: 60_000 });
          expect(done[round]).toBe(clients.length);
          gone[round]! += 1;
        }
      }),
    );
    await barriers.expectEmpty();
  }

  it('of one client begins when all have come, and ends when all are gone (Curator: testBasic)', async () => {
    await goThrough(new Array<Client>(QTY).fill(stage().mine));
  });

  it('of several clients does so too (Curator: testMultiClient)', async () => {
    const clients = await Promise.all(Array.from({ length: QTY }, () => stage().client()));
    await goThrough(clients);
  });

  it('takes in more than it waits for (Curator: testOverSubscribed)', async () => {
    const { mine, theirs } = stage();
    const members = [mine, theirs, mine, theirs, mine, theirs].map((it) => barriers.of(it, QTY));
    await Promise.all(
      members.map(async (barrier) => {
        await barrier.enter({ wait: 60_000 });
        await barrier.leave({ wait: 60_000 });
      }),
    );
    await barriers.expectEmpty();
  });

  it('is entered again by members that have just left it, and lets none of them be a round ahead', async () => {
    const { mine, theirs } = stage();
    await goThrough([mine, theirs, mine, theirs, mine], 8);
  });

  it('waits at the end for a member that came when it was open', async () => {
    const { mine, theirs } = stage();
    const members = [barriers.of(mine, 2), barriers.of(theirs, 2)];
    await Promise.all(members.map((barrier) => barrier.enter()));
    const late = barriers.of(theirs, 2);
    await late.enter({ wait: 60_000 });
    const left = members.map((barrier) => barrier.leave());
    await stage().caughtUp(theirs);
    for (const over of left) await barriers.expectWaiting(mine, over);
    await late.leave({ wait: 60_000 });
    await Promise.all(left);
    await barriers.expectEmpty();
  });

  it('of one member waits for no other', async () => {
    const barrier = barriers.of(stage().mine, 1);
    await barrier.enter({ wait: 60_000 });
    await barrier.leave({ wait: 60_000 });
    await barriers.expectEmpty();
  });

  it('has the nodes of Curator', async () => {
    const { mine, stranger, path, key } = stage();
    const barrier = barriers.of(mine, 1);
    expect(barrier).toMatchObject({ key, path });
    await barrier.enter();
    const [name] = await barriers.members();
    expect(name).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    const [own, ready] = [
      await stranger.getData(`${path}/${name}`),
      await stranger.getData(`${path}/ready`),
    ];
    expect(own.stat.ephemeralOwner).toBe(mine.connection.session!.id);
    expect(ready.stat.ephemeralOwner).toBe('0');
    for (const { data } of [own, ready]) expect(data.toString()).toMatch(/^[\d.]+$|:/); // the address of this host
    await barrier.leave();
  });
}
