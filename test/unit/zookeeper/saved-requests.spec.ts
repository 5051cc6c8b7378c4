import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Lease } from '../../../lib/core/lease.js';
import {
  CreateMode,
  type Watcher,
  type ZooKeeperConnection,
} from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import {
  DelayedWatches,
  ServedNodeShortcut,
  SoleChildShortcut,
  type WatchableHold,
} from '../../../lib/zookeeper/locks/saved-requests.js';
import { eventually, isSettled, VirtualClock } from '../../support/time.js';
import { type Client } from '../../contract/backends/zookeeper.js';
import { useTwoClients } from './world.js';

const PATH = '/locks/door';
const EMPTY = Buffer.alloc(0);

/** On the embedded tree a request takes effect when it is sent, and the news of it come in a later turn. */
describe('A lock that is taken again and again', () => {
  const two = useTwoClients({ isDirect: true });
  const mutex = () => two.mine.mutex('door');

  beforeEach(async () => {
    for (let i = 0; i < 3; i++) await mutex().using(() => {}); // numbers 0, 1, 2
  });

  it('is granted without a look at the queue', async () => {
    expect(await opsOf(() => mutex().using(() => {}))).toEqual(['create', 'delete']);
  });

  it('is looked at again when another client was there in between', async () => {
    const node = await strangersNode();
    const ops = await opsOf(async () => expect(await mutex().tryAcquire()).toBeUndefined());
    expect(ops).toEqual(['create', 'getChildren', 'delete']);
    await two.theirs.connection.delete(node);
    await using lease = await mutex().tryAcquire();
    expect(lease?.isHeld).toBe(true);
  });

  it('is looked at by the second of two callers that come at once', async () => {
    const [first, second] = await Promise.all([mutex().tryAcquire(), mutex().tryAcquire()]);
    expect([first?.isHeld, second]).toEqual([true, undefined]);
    await first!.release();
  });

  it('is looked at again although the directory is made anew while the request is under way', async () => {
    void two.theirs.connection.delete(PATH);
    void two.theirs.connection.create(PATH, EMPTY, CreateMode.CONTAINER);
    const nodes = [0, 1, 2].map(strangersNode);
    const attempt = mutex().tryAcquire(); // its number is 3, as if nothing had happened
    expect(await nodes[2]).toBe(`${PATH}/lock-0000000002`);
    expect(await attempt).toBeUndefined();
  });

  const strangersNode = () =>
    two.theirs.connection.create(`${PATH}/lock-`, EMPTY, CreateMode.EPHEMERAL_SEQUENTIAL);

  async function opsOf(work: () => Promise<unknown>): Promise<string[]> {
    const before = two.mine.requests.length;
    await work();
    return two.mine.requests.slice(before).map(({ op }) => op);
  }
});

describe('The queue of a lock', () => {
  const two = useTwoClients({ isDirect: true });

  it('is not listed by waiters of one client that follow each other', async () => {
    const { mine } = two;
    expect(await listsWhileServed(mine, mine, mine, mine)).toBe(0);
  });

  it('is listed by a waiter that follows one of another client, of whose nodes it knows nothing', async () => {
    const { mine, theirs } = two;
    expect(await listsWhileServed(theirs, mine, theirs, mine)).toBe(1); // behind the first there is no need to
  });

  it('does not mislead a waiter by one of the same client that goes before its turn', async () => {
    const stop = new AbortController();
    const first = await queued(two.theirs);
    const given = await queued(two.mine, stop.signal);
    const last = await queued(two.mine);
    stop.abort();
    await expect(given.lease).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
    await eventually('it has left', async () => (await participants()).length === 2);
    await two.mine.connection.sync('/');
    expect(await isSettled(last.lease)).toBe(false);
    await (await first.lease).release();
    await (await last.lease).release();
  });

  it('is remembered, of the last one of a thousand directories', () => {
    const served = new ServedNodeShortcut();
    for (let directory = 0; directory <= 1_000; directory++) served.note(`/${directory}`, 'node');
    served.note('/1', 'another');
    expect([served.has('/0', 'node'), served.has('/1', 'node')]).toEqual([false, false]);
    expect([served.has('/1', 'another'), served.has('/1000', 'node')]).toEqual([true, true]);
  });

  const participants = () => two.mine.mutex('door').participants();
  const lists = () => two.mine.requests.filter(({ op }) => op === 'getChildren').length;

  /** An acquire, when it queues and has set its watches. */
  async function queued(client: Client, signal?: AbortSignal): Promise<{ lease: Promise<Lease> }> {
    const length = (await participants()).length;
    const lease = client.mutex('door').acquire({ signal });
    lease.catch(() => {}); // read by the test, later
    await eventually('it queues', async () => (await participants()).length > length);
    await client.connection.sync('/');
    return { lease };
  }

  /** How often the first asks for the queue while waiters of these clients are served. */
  async function listsWhileServed(...clients: Client[]): Promise<number> {
    const waiters = [];
    for (const client of clients) waiters.push(await queued(client));
    const before = lists();
    for (const { lease } of waiters) await (await lease).release();
    return lists() - before;
  }
});

describe('Holds that last', () => {
  let clock: VirtualClock;
  let holds: DelayedWatches;
  let watched: string[];

  beforeEach(() => {
    clock = new VirtualClock();
    holds = new DelayedWatches(clock, 100);
    watched = [];
  });

  function begin(name: string): WatchableHold {
    const hold = { heldSince: clock.now(), watch: () => watched.push(`${name} at ${clock.now()}`) };
    holds.add(hold);
    return hold;
  }

  it('are watched when their time has come, each once', async () => {
    begin('first');
    await clock.advance(30);
    begin('second');
    begin('third');
    await clock.advance(1_000);
    expect(watched).toEqual(['first at 100', 'second at 130', 'third at 130']);
  });

  it('are not watched when they end before', async () => {
    const short = begin('short');
    await clock.advance(99);
    holds.remove(short);
    begin('next');
    await clock.advance(99);
    expect(watched).toEqual([]);
    await clock.advance(1);
    expect(watched).toEqual(['next at 199']);
  });

  it('need no timer when there are none', async () => {
    holds.remove(begin('short'));
    await clock.advance(100);
    expect(clock.isIdle).toBe(true);
    begin('later');
    await clock.advance(100);
    expect(watched).toEqual(['later at 200']);
  });
});

describe('The shortcut for a lock that one client takes again and again', () => {
  it('keeps one watch on a directory, also when attempts overlap', async () => {
    const watchers = new Set<Watcher>();
    const shortcut = new SoleChildShortcut({
      exists: async (_: string, watcher: Watcher) => watchers.add(watcher),
      unwatch: (_: string, watcher: Watcher) => watchers.delete(watcher),
    } as unknown as ZooKeeperConnection);
    for (let i = 0; i < 3; i++) {
      shortcut.note('/locks/a'); // by an attempt that began before the last one was removed
      await shortcut.watch(shortcut.recall('/locks/a')!);
    }
    expect(watchers.size).toBe(1);
  });
});
