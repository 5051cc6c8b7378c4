import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { systemClock } from '../../../lib/core/clock.js';
import {
  LockAbortedError,
  LockConnectionError,
  LockLostError,
} from '../../../lib/core/errors/index.js';
import type { DistributedBarrier } from '../../../lib/zookeeper/barriers/distributed-barrier.js';
import type { DistributedDoubleBarrier } from '../../../lib/zookeeper/barriers/distributed-double-barrier.js';
import type { Request } from '../../../lib/zookeeper/connection/transport.js';
import type { Watcher } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { eventually, isSettled } from '../../support/time.js';
import { useTwoClients } from './world.js';

const PATH = '/locks/gate';
const FATES = ['lost', 'unanswered'] as const;
const LONG = { wait: 60_000 };

describe('A barrier over a bad network', () => {
  const two = useTwoClients();
  let ours: DistributedBarrier;
  let other: DistributedBarrier;

  beforeEach(() => {
    ours = two.mine.locks.barrier('gate');
    other = two.theirs.locks.barrier('gate');
  });

  const isSet = async () => (await two.theirs.connection.exists(PATH)) !== undefined;
  const looks = () => two.mine.requests.filter(({ op }) => op === 'getData').length;

  /** Decides the fate of the first request of that kind; the returned function says whether there was one. */
  function once(fate: (typeof FATES)[number], op: Request['op'], path = PATH): () => boolean {
    let isHit = false;
    two.network.once(fate, (it) => (isHit = it.op === op && it.path === path));
    return () => isHit;
  }

  describe.each(FATES)('where a request is %s', (fate) => {
    it.each([PATH, '/locks'])('is set when that was to create %s', async (path) => {
      const isHit = once(fate, 'create', path);
      await ours.setBarrier();
      expect([isHit(), await isSet()]).toEqual([true, true]);
    });

    it('is removed when that was to delete it', async () => {
      await ours.setBarrier();
      const isHit = once(fate, 'delete');
      await ours.removeBarrier();
      expect([isHit(), await isSet()]).toEqual([true, false]);
    });

    it.each(['sync', 'getData'] as const)('is waited at when that was to %s', async (op) => {
      await other.setBarrier();
      const isHit = once(fate, op);
      const over = ours.waitOnBarrier(LONG);
      await eventually('it has met with that', isHit);
      await eventually('it is connected again', () => two.mine.connection.isConnected);
      await eventually('it has looked', () => looks() > (op === 'sync' ? 0 : 1));
      await two.caughtUp();
      expect(await isSettled(over)).toBe(false);
      await other.removeBarrier();
      await over;
    });
  });

  it('lets a waiter through that was away when it was removed', async () => {
    await other.setBarrier();
    const over = ours.waitOnBarrier(LONG);
    await eventually('it has looked', () => looks() === 1);
    await two.away(async () => {
      await other.removeBarrier();
      expect(await isSettled(over)).toBe(false);
    });
    await over;
  });

  it('is not set while its directory cannot be made', async () => {
    // A node of a session may have no children.
    const locks = await two.theirs.connection.create('/locks', Buffer.alloc(0), 1);
    const refused = ours.setBarrier();
    await expect(refused).rejects.not.toBeInstanceOf(LockConnectionError);
    await expect(refused).rejects.toMatchObject({ code: 'NOCHILDRENFOREPHEMERALS' });
    await two.theirs.connection.delete(locks.path);
    await ours.setBarrier();
  });
});

describe('A waiter at a barrier', () => {
  const two = useTwoClients({ isDirect: true });
  /** The paths of each watcher that was put on, and not taken off again. */
  let watching: Map<Watcher, Set<string>>;

  beforeEach(() => {
    watching = new Map();
    const { connection } = two.mine;
    const { exists, getData, unwatch } = connection;
    const note = (path: string, watcher: Watcher | undefined) => {
      if (watcher) watching.set(watcher, new Set(watching.get(watcher)).add(path));
    };
    jest.spyOn(connection, 'exists').mockImplementation((path, watcher) => {
      note(path, watcher);
      return exists.call(connection, path, watcher);
    });
    jest.spyOn(connection, 'getData').mockImplementation((path, watcher) => {
      note(path, watcher);
      return getData.call(connection, path, watcher);
    });
    jest.spyOn(connection, 'unwatch').mockImplementation((path, watcher) => {
      watching.get(watcher)?.delete(path);
      if (watching.get(watcher)?.size === 0) watching.delete(watcher);
      unwatch.call(connection, path, watcher);
    });
  });

  it('leaves no watcher on it, however the wait ends', async () => {
    const [ours, other] = [two.mine, two.theirs].map(({ locks }) => locks.barrier('gate'));
    await other!.setBarrier();
    await expectEndsClean((signal) => ours!.waitOnBarrier({ signal }));
    const over = ours!.waitOnBarrier();
    await eventually('it watches', () => watching.size > 0);
    await other!.removeBarrier();
    await over;
    expect(watching.size).toBe(0);
  });

  it('leaves no watcher on a double one, however the entry or the departure ends', async () => {
    const [ours, other] = [two.mine, two.theirs].map(({ locks }) => locks.doubleBarrier('gate', 2));
    await expectEndsClean((signal) => ours!.enter({ signal }));
    await Promise.all([ours!.enter(), other!.enter()]);
    expect(watching.size).toBe(0);
    await expectEndsClean((signal) => ours!.leave({ signal }));
    await other!.leave();
    await Promise.all([ours!.enter(), other!.enter()]);
    await Promise.all([ours!.leave(), other!.leave()]);
    expect(watching.size).toBe(0);
  });

  async function expectEndsClean(wait: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const abort = new AbortController();
    const aborted = expect(wait(abort.signal)).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
    await eventually('it watches', () => watching.size > 0);
    abort.abort();
    await aborted;
    expect(watching.size).toBe(0);
  }
});

describe('A double barrier with two members, one of which has a bad network,', () => {
  const two = useTwoClients();
  let ours: DistributedDoubleBarrier;
  let other: DistributedDoubleBarrier;

  beforeEach(() => {
    ours = two.mine.locks.doubleBarrier('gate', 2);
    other = two.theirs.locks.doubleBarrier('gate', 2);
  });

  const isOwn = ({ path }: Request) => /[\da-f]-[\da-f]{12}$/.test(path);
  const isReady = ({ path }: Request) => path === `${PATH}/ready`;
  const isDirectory = ({ path }: Request) => path === PATH;
  const requests: [string, (request: Request) => boolean][] = [
    ['creation of its node', (it) => it.op === 'create' && isOwn(it)],
    ['creation of the directory', (it) => it.op === 'create' && isDirectory(it)],
    ['creation of ready', (it) => it.op === 'create' && isReady(it)],
    ['look at its node', (it) => it.op === 'exists' && isOwn(it)],
    ['look at ready', (it) => it.op === 'exists' && isReady(it)],
    ['look at the members', (it) => it.op === 'getChildren' && isDirectory(it)],
    ['removal of its node', (it) => it.op === 'delete' && isOwn(it)],
    ['removal of ready', (it) => it.op === 'delete' && isReady(it)],
  ];
  const faults = requests.flatMap(([what, matches]) =>
    FATES.map((fate) => ({ what, fate, matches })),
  );

  it.each(faults)('is entered and left all the same when the $what is $fate', async (fault) => {
    for (const isFirst of [true, false]) {
      two.network.once(fault.fate, fault.matches);
      await comeTogether(isFirst);
      await bothLeave();
      expect(await nodes()).toEqual([]);
    }
  });

  it.each(faults)('is entered and left by one alone when the $what is $fate', async (fault) => {
    let isHit = false;
    two.network.once(fault.fate, (request) => (isHit = fault.matches(request)));
    const alone = two.mine.locks.doubleBarrier('gate', 1);
    await alone.enter(LONG);
    expect(await nodes()).toHaveLength(2);
    await alone.leave(LONG);
    expect(isHit).toBe(true);
    expect(await nodes()).toEqual([]);
  });

  it('counts that member once while the servers still have the node of a session that it has given up', async () => {
    const entered = ours.enter(LONG);
    const name = await firstMember();
    await loseSession();
    await eventually('it has come again', async () => {
      const stat = await two.theirs.connection.exists(`${PATH}/${name}`);
      return stat?.ephemeralOwner === two.mine.connection.session!.id;
    });
    await two.caughtUp(2);
    expect(await members()).toEqual([name]);
    expect(await isSettled(entered)).toBe(false);
    await other.enter(LONG);
    await entered;
  });

  it('counts that member once when it comes again, while the servers still have its former node', async () => {
    const abort = new AbortController();
    const aborted = ours.enter({ signal: abort.signal }).catch((error: unknown) => error);
    const former = await firstMember();
    await loseSession(async () => {
      abort.abort();
      expect(await aborted).toBeInstanceOf(LockAbortedError);
    });
    expect(await members()).toEqual([former]);
    const entered = ours.enter(LONG);
    await eventually('it has come again', async () => {
      const there = await members();
      return there.length > 0 && !there.includes(former);
    });
    await two.caughtUp(3);
    expect(await isSettled(entered)).toBe(false);
    expect(await members()).toHaveLength(1);
    await other.enter(LONG);
    await entered;
  });

  it('rejects the leave of a member that has given its session up inside, while the servers still have its node', async () => {
    await comeTogether(true);
    await loseSession();
    expect(await members()).toHaveLength(2);
    const lost = ours.leave(LONG);
    await expect(lost).rejects.toBeInstanceOf(LockLostError);
    await expect(lost).rejects.toThrow(/its session ended/);
  });

  it('lets a member in that it has counted, and that was away when it opened', async () => {
    const entered = ours.enter(LONG);
    await firstMember();
    await two.away(async () => {
      await other.enter(LONG);
      expect(await isSettled(entered)).toBe(false);
    });
    await entered;
  });

  it('waits at the end for a member that is away', async () => {
    await comeTogether(true);
    let over!: Promise<void>;
    await two.away(async () => {
      over = other.leave(LONG);
      await two.theirs.connection.exists('/');
      expect(await isSettled(over)).toBe(false);
    });
    await ours.leave(LONG);
    await over;
  });

  it('lets a member in that was waiting when it opened, although ready is gone again when it looks', async () => {
    const entered = ours.enter(LONG);
    await firstMember();
    await two.caughtUp(2);
    await two.theirs.connection.create(`${PATH}/ready`, Buffer.alloc(0), 0);
    await two.theirs.connection.delete(`${PATH}/ready`); // as members of Curator do on their way out
    await entered;
  });

  it('lets no member go before ready is gone, so that it is not open for one that comes again at once', async () => {
    await comeInOrder('lowest');
    two.network.fate = (request) => {
      if (request.op !== 'delete' || !isReady(request)) return 'served';
      two.network.isRefusing = true;
      return 'lost';
    };
    const over = bothLeave();
    await eventually('its removal was lost', () => two.network.isRefusing);
    await two.isAway();
    for (let look = 0; look < 3; look++) await two.theirs.connection.exists('/');
    expect(await nodes()).toHaveLength(2);
    expect(await isSettled(over)).toBe(false);
    two.network.fate = () => 'served';
    two.network.isRefusing = false;
    await over;
    expect(await nodes()).toEqual([]);
  });

  it('lets a member go that was away when the others left, although they have come again', async () => {
    await comeInOrder('highest');
    const over = ours.leave(LONG);
    await eventually('it has removed its node', async () => (await members()).length === 1);
    let next!: Promise<void>;
    await two.away(async () => {
      await other.leave(LONG);
      next = other.enter(LONG);
      await firstMember();
      expect(await isSettled(over)).toBe(false);
    });
    await over;
    expect(await isSettled(next)).toBe(false);
    await ours.enter(LONG);
    await next;
  });

  it('lets a member go that was away when the others left, although they are inside again', async () => {
    await comeInOrder('highest');
    const over = ours.leave(LONG);
    await eventually('it has removed its node', async () => (await members()).length === 1);
    const third = two.theirs.locks.doubleBarrier('gate', 2);
    await two.away(async () => {
      await other.leave(LONG);
      await Promise.all([other.enter(LONG), third.enter(LONG)]);
    });
    await over;
    expect(await nodes()).toHaveLength(3); // it has not closed what is the others' now
    await Promise.all([other.leave(LONG), third.leave(LONG)]);
  });

  it('waits for a member that came late, also when it knew of none but those that are gone', async () => {
    await comeInOrder('highest');
    const over = ours.leave(LONG);
    await eventually('it has removed its node', async () => (await members()).length === 1);
    const [first] = await members();
    const late = two.theirs.locks.doubleBarrier('gate', 2);
    await two.away(async () => {
      await late.enter(LONG);
      await two.theirs.connection.delete(`${PATH}/${first}`);
    });
    await two.caughtUp(3);
    expect(await isSettled(over)).toBe(false);
    await late.leave(LONG);
    await over;
    expect(await nodes()).toEqual([]);
  });

  /** Both enter, until the name of the one with the bad network is in that place. */
  async function comeInOrder(place: 'lowest' | 'highest'): Promise<void> {
    for (;;) {
      await comeTogether(true);
      const [lowest] = (await members()).sort();
      const stat = await two.theirs.connection.exists(`${PATH}/${lowest}`);
      const isLowest = stat!.ephemeralOwner === two.mine.connection.session!.id;
      if (isLowest === (place === 'lowest')) return;
      await bothLeave();
    }
  }

  /** Both enter; `isFirst`: the one with the bad network comes first. */
  async function comeTogether(isFirst: boolean): Promise<void> {
    const [first, second] = isFirst ? [ours, other] : [other, ours];
    const entered = first.enter(LONG);
    await firstMember();
    await Promise.all([entered, second.enter(LONG)]);
  }

  const bothLeave = () => Promise.all([ours.leave(LONG), other.leave(LONG)]);
  const nodes = () => two.theirs.connection.getChildren(PATH);

  async function members(): Promise<string[]> {
    const isThere = await two.theirs.connection.exists(PATH);
    return isThere ? (await nodes()).filter((name) => name !== 'ready') : [];
  }

  /** The name of the node of the first one, when it has come. */
  async function firstMember(): Promise<string> {
    await eventually('the first has come', async () => (await members()).length === 1);
    return (await members())[0]!;
  }

  /** Its client gives its session up before the servers do; meanwhile, `work`. */
  async function loseSession(work = async () => {}): Promise<void> {
    const { session } = two.mine.connection;
    await two.away(async () => {
      session!.end('for the test');
      await work();
      // An attempt to connect that is under way arrives before this, and is refused.
      await new Promise<void>((resolve) => systemClock.setTimer(resolve, 0));
    });
    expect(two.mine.connection.session).not.toBe(session);
  }
});
