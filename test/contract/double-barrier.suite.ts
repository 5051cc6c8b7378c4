import { describe, expect, it } from '@jest/globals';
import {
  LockAbortedError,
  LockClientClosedError,
  LockConnectionError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import type { DistributedDoubleBarrier } from '../../lib/zookeeper/barriers/distributed-double-barrier.js';
import { CreateMode, Permission } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import { eventually, isSettled } from '../support/time.js';
import { DoubleBarrierStage } from './backends/recipes.js';
import { type Deployment, onStage } from './backends/stage.js';
import { type Backend, type Client, Stage } from './backends/zookeeper.js';
import {
  doubleBarrierFaultsSuite,
  doubleBarrierMisuseSuite,
} from './double-barrier-faults.suite.js';

/** Everything that a double barrier promises; with the cases of Curator's TestDistributedDoubleBarrier. */
export function doubleBarrierSuite(on: Deployment<Backend>): void {
  describe(`A double barrier on ${on.name}`, () => {
    const stage = onStage(() => Stage.build(on.backend()));
    const barriers = new DoubleBarrierStage(stage);
    on.part('with its members', 'deployment', () => doubleBarrierRoundsSuite(stage, barriers));
    on.part('while a member enters', 'server', () => doubleBarrierEntrySuite(stage, barriers));
    on.part('while a member leaves', 'server', () => doubleBarrierLeavingSuite(stage, barriers));
    on.part('when something fails', 'recipe', () => doubleBarrierFaultsSuite(stage, barriers));
    on.part('that is misused', 'client', () => doubleBarrierMisuseSuite(stage, barriers));
  });
}

const QTY = 5;

/** Members that begin together and end together. */
function doubleBarrierRoundsSuite(stage: () => Stage, barriers: DoubleBarrierStage): void {
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

  it('of one client begins when all have come, and ends when all are gone (Curator: TestDistributedDoubleBarrier testBasic)', async () => {
    await goThrough(new Array<Client>(QTY).fill(stage().mine));
  });

  it('of several clients does so too (Curator: TestDistributedDoubleBarrier testMultiClient)', async () => {
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

/** The way in. */
function doubleBarrierEntrySuite(stage: () => Stage, barriers: DoubleBarrierStage): void {
  it('counts its members anew when another one comes, without those that have gone again', async () => {
    const { mine, theirs } = stage();
    const first = await barriers.come(barriers.of(mine, 3));
    const abort = new AbortController();
    const fleeting = await barriers.come(barriers.of(theirs, 3), { signal: abort.signal });
    abort.abort();
    await expect(fleeting.entered).rejects.toBeInstanceOf(LockAbortedError);
    await barriers.becomes(1);
    const second = await barriers.come(barriers.of(theirs, 3));
    await barriers.expectWaiting(theirs, second.entered);
    await barriers.expectWaiting(mine, first.entered);
    const third = await barriers.come(barriers.of(mine, 3));
    await Promise.all([first.entered, second.entered, third.entered]);
  });

  it('lets no member in for being woken, whatever wakes it', async () => {
    const { mine, theirs, stranger, path } = stage();
    const first = await barriers.come(barriers.of(mine, 2), { wait: 60_000 });
    await barriers.expectWaiting(mine, first.entered);
    const asked = mine.requests.length;
    await stranger.setData(`${path}/${first.name}`, Buffer.from('something'));
    await eventually('it has looked again', () => mine.requests.length > asked);
    await barriers.expectWaiting(mine, first.entered);
    expect(await barriers.isOpen()).toBe(false);
    await barriers.of(theirs, 2).enter({ wait: 60_000 });
    await first.entered;
  });

  it('rejects the entry when its time is over, and keeps nothing of it', async () => {
    const { mine, theirs, key } = stage();
    const hasty = barriers.of(mine, 2);
    const late = hasty.enter({ wait: 100 });
    await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
    await expect(late).rejects.toMatchObject({ waitedMs: 100, key, client: 'contract' });
    await barriers.expectEmpty();

    const other = await barriers.come(barriers.of(theirs, 2));
    await barriers.expectWaiting(theirs, other.entered);
    await hasty.enter({ wait: 60_000 }); // it may try again
    await other.entered;
  });

  it('rejects the entry after the default wait of the client', async () => {
    const hasty = await stage().client({ wait: 50 });
    await expect(barriers.of(hasty, 2).enter()).rejects.toMatchObject({ waitedMs: 50 });
    await barriers.expectEmpty();
  });

  it('rejects the entry when its signal aborts, and keeps nothing of it', async () => {
    const { mine } = stage();
    const abort = new AbortController();
    const { entered } = await barriers.come(barriers.of(mine, 2), { signal: abort.signal });
    abort.abort('enough');
    await expect(entered).rejects.toMatchObject({ code: 'LOCK_ABORTED', cause: 'enough' });
    await barriers.expectEmpty();
    const asked = mine.requests.length;
    const refused = barriers.of(mine, 2).enter({ signal: abort.signal });
    await expect(refused).rejects.toBeInstanceOf(LockAbortedError);
    expect(mine.requests).toHaveLength(asked);
  });

  it('rejects the entry when the client shuts down, and keeps nothing of it', async () => {
    const { mine } = stage();
    const { entered } = await barriers.come(barriers.of(mine, 2));
    mine.locks.refuse();
    await expect(entered).rejects.toBeInstanceOf(LockClientClosedError);
    await barriers.expectEmpty();
    await expect(barriers.of(mine, 2).enter()).rejects.toBeInstanceOf(LockClientClosedError);
  });

  it('rejects the entry when the client closes, and keeps nothing of it', async () => {
    const { mine } = stage();
    const { entered } = await barriers.come(barriers.of(mine, 2));
    const closing = mine.locks.close();
    await expect(entered).rejects.toBeInstanceOf(LockClientClosedError);
    await closing;
    await barriers.expectEmpty();
  });

  it('sends no request while it waits, and reacts to nothing after the entry has ended', async () => {
    const { mine, theirs } = stage();
    const abort = new AbortController();
    const waiting = await barriers.come(barriers.of(mine, 3), { signal: abort.signal });
    await stage().caughtUp(mine);
    const asked = mine.requests.length;
    const other = await barriers.come(barriers.of(theirs, 3));
    await stage().caughtUp(mine);
    abort.abort();
    await expect(waiting.entered).rejects.toBeInstanceOf(LockAbortedError);
    await barriers.becomes(1);
    expect(mine.requests.slice(asked).map(({ op }) => op)).toEqual(['delete']);
    const [second, third] = [barriers.of(theirs, 3), barriers.of(theirs, 3)];
    await Promise.all([second.enter(), third.enter(), other.entered]);
    await stage().caughtUp(mine);
    expect(mine.requests.slice(asked)).toHaveLength(1);
  });

  it('makes another node for a member when another client deletes the first one', async () => {
    const { mine, theirs, stranger, path } = stage();
    const first = await barriers.come(barriers.of(mine, 2));
    await stranger.delete(`${path}/${first.name}`);
    await eventually('it has come again', async () => (await barriers.members()).length === 1);
    await barriers.of(theirs, 2).enter({ wait: 60_000 });
    await first.entered;
  });

  it('lets no member in by the remains of a round that has crashed', async () => {
    const { mine, theirs, stranger, path } = stage();
    await expect(barriers.of(mine, 2).enter({ wait: 50 })).rejects.toThrow(); // makes the directory
    await barriers.expectEmpty();
    await stranger.create(`${path}/ready`, Buffer.alloc(0), CreateMode.PERSISTENT);
    const first = await barriers.come(barriers.of(mine, 2));
    await barriers.expectWaiting(mine, first.entered);
    await barriers.of(theirs, 2).enter({ wait: 60_000 });
    await first.entered;
  });

  it('rejects with LockConnectionError when the servers refuse access, and keeps nothing of the entry', async () => {
    const { mine, stranger, path } = stage();
    await expect(barriers.of(mine, 2).enter({ wait: 50 })).rejects.toThrow();
    await barriers.expectEmpty();
    await permit(Permission.READ | Permission.ADMIN);
    const refused = barriers.of(mine, 1).enter();
    await expect(refused).rejects.toBeInstanceOf(LockConnectionError);
    await expect(refused).rejects.toThrow(/NOAUTH/);
    await permit(Permission.ALL);
    await barriers.expectEmpty();

    async function permit(perms: number): Promise<void> {
      await stranger.setAcl(path, [{ perms, scheme: 'world', id: 'anyone' }]);
      await stage().caughtUp(mine);
    }
  });
}

/** The way out. */
function doubleBarrierLeavingSuite(stage: () => Stage, barriers: DoubleBarrierStage): void {
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
