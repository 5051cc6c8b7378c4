import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LockAbortedError, LockLostError } from '../../../lib/core/errors/index.js';
import { systemClock } from '../../../lib/core/clock.js';
import type { DistributedDoubleBarrier } from '../../../lib/zookeeper/barriers/distributed-double-barrier.js';
import type { Request } from '../../../lib/zookeeper/connection/transport.js';
import { Client } from '../../contract/client.js';
import { EmbeddedBackend } from '../../contract/embedded-backend.js';
import { eventually } from '../../support/eventually.js';
import { FaultyTransport } from '../../support/faulty-transport.js';
import { isSettled } from '../../support/is-settled.js';

const PATH = '/locks/gate';

describe('A double barrier with two members, one of which has a bad network,', () => {
  let network: FaultyTransport;
  let mine: Client;
  let theirs: Client;
  let ours: DistributedDoubleBarrier;
  let other: DistributedDoubleBarrier;

  beforeEach(async () => {
    const { transport, servers } = await new EmbeddedBackend().connect();
    network = new FaultyTransport(transport, systemClock);
    mine = new Client(network, servers, {});
    theirs = new Client(transport, servers, {});
    await Promise.all([mine.locks.connect(), theirs.locks.connect()]);
    [ours, other] = [mine, theirs].map(({ locks }) => locks.doubleBarrier('gate', 2)) as [
      DistributedDoubleBarrier,
      DistributedDoubleBarrier,
    ];
  });
  afterEach(() => Promise.all([mine.locks.close(), theirs.locks.close()]));

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
  const fates = requests.flatMap(([what, matches]) =>
    (['lost', 'unanswered'] as const).map((fate) => ({ what, fate, matches })),
  );

  it.each(fates)('is entered and left all the same when the $what is $fate', async (fault) => {
    for (const isFirst of [true, false]) {
      network.once(fault.fate, fault.matches);
      await comeTogether(isFirst);
      await Promise.all([ours.leave({ wait: 60_000 }), other.leave({ wait: 60_000 })]);
      expect(await nodes()).toEqual([]);
    }
  });

  it.each(fates)('is entered and left by one alone when the $what is $fate', async (fault) => {
    let isHit = false;
    network.once(fault.fate, (request) => (isHit = fault.matches(request)));
    const alone = mine.locks.doubleBarrier('gate', 1);
    await alone.enter({ wait: 60_000 });
    expect(await nodes()).toHaveLength(2);
    await alone.leave({ wait: 60_000 });
    expect(isHit).toBe(true);
    expect(await nodes()).toEqual([]);
  });

  it('counts that member once while the servers still have the node of a session that it has given up', async () => {
    const entered = ours.enter({ wait: 60_000 });
    const [name] = await eventually('it has come', async () => {
      const there = await members();
      return there.length === 1 && there;
    });
    await loseSession();
    await eventually('it has come again', async () => {
      const stat = await theirs.connection.exists(`${PATH}/${name}`);
      return stat?.ephemeralOwner === mine.connection.session!.id;
    });
    await mine.connection.exists('/'); // answered behind its looks
    await mine.connection.exists('/');
    expect(await members()).toEqual([name]);
    expect(await isSettled(entered)).toBe(false);
    await other.enter({ wait: 60_000 });
    await entered;
  });

  it('counts that member once when it comes again, while the servers still have its former node', async () => {
    const abort = new AbortController();
    const aborted = ours.enter({ signal: abort.signal }).catch((error: unknown) => error);
    const [former] = await eventually('it has come', async () => {
      const there = await members();
      return there.length === 1 && there;
    });
    await loseSession(async () => {
      abort.abort();
      expect(await aborted).toBeInstanceOf(LockAbortedError);
    });
    expect(await members()).toEqual([former]);
    const entered = ours.enter({ wait: 60_000 });
    await eventually('it has come again', async () => {
      const there = await members();
      return there.length > 0 && !there.includes(former!);
    });
    for (let look = 0; look < 3; look++) await mine.connection.exists('/'); // answered behind its looks
    expect(await isSettled(entered)).toBe(false);
    expect(await members()).toHaveLength(1);
    await other.enter({ wait: 60_000 });
    await entered;
  });

  it('rejects the leave of a member that has given its session up inside, while the servers still have its node', async () => {
    await comeTogether(true);
    await loseSession();
    expect(await members()).toHaveLength(2);
    const lost = ours.leave({ wait: 60_000 });
    await expect(lost).rejects.toBeInstanceOf(LockLostError);
    await expect(lost).rejects.toThrow(/its session ended/);
  });

  it('lets a member in that it has counted, and that was away when it opened', async () => {
    const entered = ours.enter({ wait: 60_000 });
    await eventually('it has come', async () => (await members()).length === 1);
    await away(async () => {
      await other.enter({ wait: 60_000 });
      expect(await isSettled(entered)).toBe(false);
    });
    await entered;
  });

  it('waits at the end for a member that is away', async () => {
    await comeTogether(true);
    let over!: Promise<void>;
    await away(async () => {
      over = other.leave({ wait: 60_000 });
      await theirs.connection.exists('/');
      expect(await isSettled(over)).toBe(false);
    });
    await ours.leave({ wait: 60_000 });
    await over;
  });

  it('lets a member in that was waiting when it opened, although ready is gone again when it looks', async () => {
    const entered = ours.enter({ wait: 60_000 });
    await eventually('it has come', async () => (await members()).length === 1);
    await mine.connection.exists('/');
    await mine.connection.exists('/');
    await theirs.connection.create(`${PATH}/ready`, Buffer.alloc(0), 0);
    await theirs.connection.delete(`${PATH}/ready`); // as members of Curator do on their way out
    await entered;
  });

  it('lets no member go before ready is gone, so that it is not open for one that comes again at once', async () => {
    await comeInOrder('lowest');
    network.fate = (request) => {
      if (request.op !== 'delete' || !isReady(request)) return 'served';
      network.isRefusing = true;
      return 'lost';
    };
    const over = Promise.all([ours.leave({ wait: 60_000 }), other.leave({ wait: 60_000 })]);
    await eventually('it is away', () => network.isRefusing && !mine.connection.isConnected);
    for (let look = 0; look < 3; look++) await theirs.connection.exists('/');
    expect(await nodes()).toHaveLength(2);
    expect(await isSettled(over)).toBe(false);
    network.fate = () => 'served';
    network.isRefusing = false;
    await over;
    expect(await nodes()).toEqual([]);
  });

  it('lets a member go that was away when the others left, although they have come again', async () => {
    await comeInOrder('highest');
    const over = ours.leave({ wait: 60_000 });
    await eventually('it has removed its node', async () => (await members()).length === 1);
    let next!: Promise<void>;
    await away(async () => {
      await other.leave({ wait: 60_000 });
      next = other.enter({ wait: 60_000 });
      await eventually('the other has come again', async () => (await members()).length === 1);
      expect(await isSettled(over)).toBe(false);
    });
    await over;
    expect(await isSettled(next)).toBe(false);
    await ours.enter({ wait: 60_000 });
    await next;
  });

  /** Both enter, until the name of the one with the bad network is in that place. */
  async function comeInOrder(place: 'lowest' | 'highest'): Promise<void> {
    for (;;) {
      await comeTogether(true);
      const [lowest] = (await members()).sort();
      const stat = await theirs.connection.exists(`${PATH}/${lowest}`);
      const isLowest = stat!.ephemeralOwner === mine.connection.session!.id;
      if (isLowest === (place === 'lowest')) return;
      await Promise.all([ours.leave({ wait: 60_000 }), other.leave({ wait: 60_000 })]);
    }
  }

  /** Both enter; `isFirst`: the one with the bad network comes first. */
  async function comeTogether(isFirst: boolean): Promise<void> {
    const [first, second] = isFirst ? [ours, other] : [other, ours];
    const entered = first.enter({ wait: 60_000 });
    await eventually('the first has come', async () => (await members()).length === 1);
    await Promise.all([entered, second.enter({ wait: 60_000 })]);
  }

  async function nodes(): Promise<string[]> {
    return theirs.connection.getChildren(PATH);
  }

  async function members(): Promise<string[]> {
    const isThere = await theirs.connection.exists(PATH);
    return isThere ? (await nodes()).filter((name) => name !== 'ready') : [];
  }

  /** Its client gives its session up before the servers do; meanwhile, `work`. */
  async function loseSession(work = async () => {}): Promise<void> {
    const { session } = mine.connection;
    await away(async () => {
      session!.end('for the test');
      await work();
      // An attempt to connect that is under way arrives before this, and is refused.
      await new Promise<void>((resolve) => systemClock.setTimer(resolve, 0));
    });
    expect(mine.connection.session).not.toBe(session);
  }

  /** Runs `work` while the one with the bad network cannot reach the servers; resolves when it can again. */
  async function away(work: () => Promise<void>): Promise<void> {
    network.isRefusing = true;
    network.cut();
    await eventually('it is away', () => !mine.connection.isConnected);
    await work();
    network.isRefusing = false;
    await eventually('it is back', () => mine.connection.isConnected);
  }
});
