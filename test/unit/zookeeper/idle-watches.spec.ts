import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { IdleWatches } from '../../../lib/zookeeper/connection/idle-watches.js';
import { CreateMode } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { VirtualWorld, type Visitor } from './world.js';

const EMPTY = Buffer.alloc(0);

describe('A watch without a watcher', () => {
  let world: VirtualWorld;
  let mine: Visitor;
  let theirs: Visitor;

  beforeEach(async () => {
    world = new VirtualWorld();
    [mine, theirs] = [await world.join(), await world.join()];
  });
  afterEach(() => Promise.all([run(mine.locks.close()), run(theirs.locks.close())]));

  const run = <T>(work: Promise<T>) => world.clock.runUntil(work);
  const removals = () => mine.log.requests.filter(({ op }) => op === 'removeWatches');
  const make = (path: string) =>
    run(theirs.connection.create(path, EMPTY, CreateMode.PERSISTENT)).then(() => path);

  it('is removed from the server: that of a waiter that has given up, on the node ahead of it', async () => {
    const keys = Array.from({ length: 250 }, (_, i) => `key-${i}`);
    const leases = await run(Promise.all(keys.map((key) => theirs.locks.mutex(key).acquire())));
    await world.clock.advance(1_000);
    const waits = keys.map((key) => mine.locks.mutex(key).acquire({ wait: 50 }));
    await run(Promise.allSettled(waits));
    await world.clock.advance(1_000); // the waiters' nodes are gone
    expect(world.server.tree.watchCount).toBe(2 * keys.length);
    await world.clock.advance(15_000);
    expect(world.server.tree.watchCount).toBe(keys.length); // the holders'
    expect(leases.every(({ isHeld }) => isHeld)).toBe(true);
    await run(Promise.all(leases.map((lease) => lease.release())));
  });

  it('is removed from the server: that on a node which is never made, and that on children', async () => {
    const path = await make('/a');
    const watcher = () => {};
    await run(mine.connection.exists('/none', watcher));
    await run(mine.connection.getChildren(path, watcher));
    expect(world.server.tree.watchCount).toBe(2);
    mine.connection.unwatch('/none', watcher);
    mine.connection.unwatch(path, watcher);
    await world.clock.advance(11_000);
    expect(world.server.tree.watchCount).toBe(0);
    await world.clock.advance(60_000);
    expect(removals()).toHaveLength(2);
  });

  it('is removed among a hundred others at a time, of both kinds together', async () => {
    const { clock } = world;
    const removed = new Map<number, number>();
    const idle = new IdleWatches(clock, () => {
      const now = clock.now();
      removed.set(now, (removed.get(now) ?? 0) + 1);
    });
    for (let i = 0; i < 150; i++) idle.add('data', `/${i}`);
    for (let i = 0; i < 250; i++) idle.add('child', `/${i}`);
    await clock.advance(60_000);
    expect([...removed.values()]).toEqual([100, 100, 100, 100]);
  });

  it('costs no request where it fires soon, or is waited for again', async () => {
    for (let round = 0; round < 20; round++) {
      const lease = await run(mine.locks.mutex('door').acquire());
      const next = theirs.locks.mutex('door').acquire();
      await world.clock.advance(1_000);
      await run(lease.release());
      const waiting = mine.locks.mutex('door').acquire();
      await world.clock.advance(1_000);
      await run((await run(next)).release());
      await run((await run(waiting)).release());
    }
    const path = await make('/a');
    const watcher = () => {};
    for (let round = 0; round < 5; round++) {
      await run(mine.connection.getData(path, watcher));
      mine.connection.unwatch(path, watcher);
      await world.clock.advance(9_000);
    }
    expect(removals()).toEqual([]);
  });

  it('stays while another watcher waits', async () => {
    const path = await make('/a');
    const heard: string[] = [];
    const [gone, there] = [() => heard.push('gone'), () => heard.push('there')];
    await run(mine.connection.getData(path, gone));
    await run(mine.connection.getData(path, there));
    mine.connection.unwatch(path, gone);
    await world.clock.advance(60_000);
    await run(theirs.connection.setData(path, EMPTY));
    await world.clock.advance(0);
    expect(heard).toEqual(['there']);
    expect(removals()).toEqual([]);
  });

  it.each(['exists', 'getData', 'getChildren'] as const)(
    'is never removed under a watcher that comes as it is removed: %s',
    async (read) => {
      const { connection } = mine;
      mine.network.latency = () => 10;
      const heard: number[] = [];
      const comes = Array.from({ length: 61 }, (_, ms) => 9_970 + ms); // it is removed after 10,000
      for (const [n, ms] of comes.entries()) {
        const path = await make(`/${n}`);
        const first = () => {};
        await run(connection[read](path, first) as Promise<unknown>);
        connection.unwatch(path, first);
        await world.clock.advance(ms);
        void connection[read](path, () => heard.push(ms));
        await world.clock.advance(100);
        await run(theirs.connection.delete(path));
        await world.clock.advance(100);
      }
      expect(heard).toEqual(comes);
      expect(removals()).toHaveLength(comes.filter((ms) => ms >= 10_000).length);
    },
  );
});
