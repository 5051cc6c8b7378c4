import { expect, it } from '@jest/globals';
import {
  LockAbortedError,
  LockClientClosedError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import type { DistributedDoubleBarrier } from '../../lib/zookeeper/barriers/distributed-double-barrier.js';
import { isSettled } from '../support/is-settled.js';
import type { Client } from './client.js';
import type { DoubleBarrierStage } from './double-barrier-stage.js';
import type { Stage } from './stage.js';

/** The way out. */
export function doubleBarrierLeavingSuite(stage: () => Stage, barriers: DoubleBarrierStage): void {
  /** So many members inside, in the order of their names. */
  async function inside(...clients: readonly Client[]): Promise<DistributedDoubleBarrier[]> {
    const come = [];
    for (const client of clients) {
      const barrier = barriers.of(client, clients.length);
      come.push({ barrier, ...(await barriers.come(barrier)) });
    }
    await Promise.all(come.map(({ entered }) => entered));
    return come.sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ barrier }) => barrier);
  }

  it.each([
    ['lowest', 0],
    ['one in the middle', 1],
    ['highest', 2],
  ])('makes all wait for the %s', async (_, last) => {
    const { mine, theirs } = stage();
    const members = await inside(mine, theirs, mine);
    const left = members.filter((_, n) => n !== last).map((barrier) => barrier.leave());
    for (let look = 0; look < 2; look++)
      for (const over of left) {
        await stage().caughtUp(theirs);
        await barriers.expectWaiting(mine, over);
      }
    expect(await barriers.isOpen()).toBe(true);
    await members[last]!.leave({ wait: 60_000 });
    await Promise.all(left);
    await barriers.expectEmpty();
  });

  it('makes all wait for a member that came in when they were already waiting', async () => {
    const { mine, theirs } = stage();
    const [lowest, highest] = await inside(mine, mine);
    const first = lowest!.leave();
    await barriers.expectWaiting(mine, first);
    const late = barriers.of(theirs, 2);
    await late.enter({ wait: 60_000 });
    const second = highest!.leave();
    for (const over of [first, second, first, second]) await barriers.expectWaiting(mine, over);
    await late.leave({ wait: 60_000 });
    await Promise.all([first, second]);
    await barriers.expectEmpty();
  });

  it('is no longer open for a member that comes after the last has left', async () => {
    const { mine, theirs } = stage();
    const members = await inside(mine, theirs);
    await Promise.all(members.map((barrier) => barrier.leave({ wait: 60_000 })));
    const next = await barriers.come(members[0]!);
    await barriers.expectWaiting(mine, next.entered);
    await barriers.expectWaiting(theirs, next.entered);
    await members[1]!.enter({ wait: 60_000 });
    await next.entered;
  });

  it.each([0, 1])('lets no. %i out when its time is over, and none waits for it', async (n) => {
    const { mine, theirs } = stage();
    const members = await inside(mine, theirs);
    const asked = mine.requests.length + theirs.requests.length;
    const late = members[n]!.leave({ wait: 200 });
    await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
    await expect(late).rejects.toMatchObject({ waitedMs: 200 });
    await barriers.becomes(1);
    // Neither did it turn round and round meanwhile, as Curator's once did (CURATOR-536).
    expect(mine.requests.length + theirs.requests.length - asked).toBeLessThan(10);
    await members[1 - n]!.leave({ wait: 60_000 });
    await barriers.expectEmpty();
    const again = await barriers.come(members[n]!);
    await members[1 - n]!.enter({ wait: 60_000 });
    await again.entered;
  });

  it.each([0, 1])('lets no. %i out when its signal aborts', async (n) => {
    const { mine, theirs } = stage();
    const members = await inside(mine, theirs);
    const abort = new AbortController();
    const over = members[n]!.leave({ signal: abort.signal });
    await stage().caughtUp(theirs);
    await barriers.expectWaiting(mine, over);
    abort.abort();
    await expect(over).rejects.toBeInstanceOf(LockAbortedError);
    await barriers.becomes(1);
    await members[1 - n]!.leave({ wait: 60_000 });
    await barriers.expectEmpty();
  });

  it('ends in time for more members than it waits for, when one of them does not leave', async () => {
    const { mine, theirs } = stage();
    const members = [mine, theirs, mine].map((client) => barriers.of(client, 2));
    await Promise.all(members.map((barrier) => barrier.enter({ wait: 60_000 })));
    const [stays, ...leave] = members;
    const left = leave.map((barrier) => barrier.leave({ wait: 200 }));
    await Promise.all(left.map((over) => expect(over).rejects.toBeInstanceOf(LockTimeoutError)));
    await barriers.becomes(1);
    await stays!.leave({ wait: 60_000 });
    await barriers.expectEmpty();
  });

  it('lets a member leave while its client shuts down, and takes it out when that closes', async () => {
    const { mine, theirs } = stage();
    const members = await inside(mine, theirs);
    mine.locks.refuse();
    const left = members.map((barrier) => barrier.leave({ wait: 60_000 }));
    await Promise.all(left);
    await barriers.expectEmpty();
  });

  it('takes out a member that waits when its client closes', async () => {
    const { mine, theirs } = stage();
    const ours = barriers.of(mine, 2);
    const other = barriers.of(theirs, 2);
    await Promise.all([ours.enter(), other.enter()]);
    const over = ours.leave();
    await barriers.expectWaiting(mine, over);
    const closing = mine.locks.close();
    await expect(over).rejects.toBeInstanceOf(LockClientClosedError);
    await closing;
    await other.leave({ wait: 60_000 });
    await barriers.expectEmpty();
  });

  it('does not make a member that has left wait for the next round', async () => {
    const { mine, theirs } = stage();
    const [first, second] = await inside(mine, theirs);
    const slow = first!.leave();
    await second!.leave({ wait: 60_000 });
    const next = await barriers.come(second!);
    await slow;
    expect(await isSettled(next.entered)).toBe(false);
    await first!.enter({ wait: 60_000 });
    await next.entered;
  });
}
