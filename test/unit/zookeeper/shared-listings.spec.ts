import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from '../../../lib/core/clock.js';
import type { Lock } from '../../../lib/core/lock.js';
import { SharedListings } from '../../../lib/zookeeper/nodes/shared-listings.js';
import type { VirtualClock } from '../../support/time.js';
import { type Visitor, VirtualWorld } from './world.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('The listing of a directory', () => {
  let asked: { answer: (names: string[]) => void; refuse: (error: Error) => void }[];
  let listings: SharedListings;

  beforeEach(() => {
    asked = [];
    const connection = {
      getChildren: () =>
        new Promise<string[]>((answer, refuse) => {
          asked.push({ answer, refuse });
        }),
    };
    listings = new SharedListings(connection, systemClock);
  });
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

  it('is sent once for all that ask in one turn', async () => {
    const all = Array.from({ length: 100 }, () => listings.getChildren('/a'));
    await turn();
    expect(asked).toHaveLength(1);
    asked[0]!.answer(['x']);
    expect(await Promise.all(all)).toEqual(all.map(() => ['x']));
  });

  it('is sent again, once, for all that ask while it is under way', async () => {
    const early = listings.getChildren('/a');
    await turn();
    const late = [listings.getChildren('/a'), listings.getChildren('/a')];
    await turn();
    expect(asked).toHaveLength(1);
    asked[0]!.answer([]);
    expect(await early).toEqual([]);
    await turn();
    expect(asked).toHaveLength(2);
    asked[1]!.answer(['mine']);
    expect(await Promise.all(late)).toEqual([['mine'], ['mine']]);
  });

  it('that fails does not keep the next from being sent', async () => {
    const early = listings.getChildren('/a');
    await turn();
    const late = listings.getChildren('/a');
    asked[0]!.refuse(new Error('lost'));
    await expect(early).rejects.toThrow('lost');
    await turn();
    asked[1]!.answer(['mine']);
    expect(await late).toEqual(['mine']);
    void listings.getChildren('/a');
    await turn();
    expect(asked).toHaveLength(3);
  });
});

const mutex = ({ locks }: Visitor) => locks.mutex('door');
const readLock = ({ locks }: Visitor) => locks.readWriteLock('door').readLock();
const writeLock = ({ locks }: Visitor) => locks.readWriteLock('door').writeLock();

describe('Waiters for one key', () => {
  let clock: VirtualClock;
  let mine: Visitor;
  let theirs: Visitor;

  beforeEach(async () => {
    const world = new VirtualWorld();
    ({ clock } = world);
    mine = await world.join();
    theirs = await world.join();
  });
  afterEach(() => clock.runUntil(Promise.all([mine.locks.close(), theirs.locks.close()])));

  it.each<[string, (client: Visitor) => Lock, (client: Visitor) => Lock]>([
    ['a mutex', mutex, mutex],
    ['a write lock', writeLock, writeLock],
    ['a read lock', readLock, writeLock],
  ])('that ask in one turn for %s list it once, and are served in order', async (...it) => {
    const [, lock, blocker] = it;
    const held = await clock.runUntil(blocker(theirs).acquire());
    const order: number[] = [];
    const all = Array.from({ length: 100 }, (_, i) => lock(mine).using(() => void order.push(i)));
    await clock.advance(100);
    const sentOf = (op: string) => mine.log.requests.filter((request) => request.op === op);
    expect(sentOf('create')).toHaveLength(100);
    expect(sentOf('getChildren')).toHaveLength(1);
    await clock.runUntil(held.release());
    await clock.runUntil(Promise.all(all));
    expect(order).toEqual(Array.from(order.keys()));
  });

  it('keep nothing of the listings that they have seen', async () => {
    const held = await clock.runUntil(mutex(theirs).acquire());
    const seen: WeakRef<string[]>[] = [];
    const { connection } = mine;
    const getChildren = connection.getChildren.bind(connection);
    connection.getChildren = async (path, watcher) => {
      const children = await getChildren(path, watcher);
      seen.push(new WeakRef(children));
      return children;
    };
    const waiting = [];
    for (let i = 0; i < 200; i++) {
      waiting.push(mutex(mine).using(() => {}));
      await clock.advance(10);
      waiting.push(mutex(theirs).using(() => {})); // else there would be nothing to list
      await clock.advance(10);
    }
    expect(seen.length).toBeGreaterThanOrEqual(200);
    await new Promise((resolve) => setImmediate(resolve)); // a WeakRef lives until the end of its turn
    collectGarbage();
    expect(seen.filter((listing) => listing.deref() !== undefined).length).toBeLessThan(5);
    await clock.runUntil(held.release());
    await clock.runUntil(Promise.all(waiting));
  });
});
