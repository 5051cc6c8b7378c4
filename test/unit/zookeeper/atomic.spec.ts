import { beforeEach, describe, expect, it } from '@jest/globals';
import { LockKeyError } from '../../../lib/core/errors/index.js';
import { EmbeddedServer } from '../../../lib/embedded/embedded-server.js';
import type { DistributedAtomicLong } from '../../../lib/zookeeper/atomic/distributed-atomic-number.js';
import { CreateMode } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { ZooKeeperError } from '../../../lib/zookeeper/connection/zookeeper-error.js';
import { AgedTransport } from '../../support/transports.js';
import { eventually } from '../../support/time.js';
import { type Client } from '../../contract/backends/zookeeper.js';
import { clientOf, useTwoClients, VirtualWorld } from './world.js';

const PATH = '/locks/counter';

/** Another client changes the number directly, at the very moment in which the connection breaks. */
describe('A change of an atomic number over a connection that breaks', () => {
  const two = useTwoClients();
  let counter: DistributedAtomicLong;

  beforeEach(async () => {
    counter = two.mine.locks.atomicLong('counter');
    await counter.forceSet(5n);
  });

  const node = () => two.server.tree.get(PATH);
  const value = () => node()?.data.readBigInt64BE();
  const set = (to: bigint) => tree().setData(PATH, bytesOf(to), tree().nextZxid());
  const remove = () => two.server.remove(PATH);
  const tree = () => two.server.tree;
  const changes = () =>
    two.mine.requests.filter(({ op }) => op === 'setData' || op === 'create').length;

  function insert(number: bigint): void {
    const origin = { data: bytesOf(number), mode: CreateMode.PERSISTENT, sessionId: '0' };
    tree().insert(PATH, { ...origin, zxid: tree().nextZxid() });
  }

  /** What becomes of the next such request, and what happens with that. */
  function atNext(
    op: 'setData' | 'create',
    fate: 'lost' | 'unanswered',
    meanwhile: () => void = () => {},
  ): void {
    two.network.once(fate, (request) => {
      const isIt = request.op === op && request.path === PATH;
      if (isIt) meanwhile();
      return isIt;
    });
  }

  async function expectInDoubt(change: Promise<unknown>): Promise<void> {
    const error: unknown = await change.then(
      (result) => expect(result).toBe('a rejection'),
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(ZooKeeperError);
    expect(error).toMatchObject({ code: 'CONNECTIONLOSS', maybeDone: true, path: PATH });
  }

  it.each<['setData' | 'create', string, () => void, bigint]>([
    ['setData', 'the server never got it', () => {}, 5n],
    ['setData', 'another one has certainly come before it', () => set(15n), 15n],
    ['create', 'the server never got it', () => {}, 0n],
    ['create', 'another one has certainly made it', () => insert(15n), 15n],
  ])('by %s is tried again, and counted once, when %s', async (op, _, meanwhile, before) => {
    if (op === 'create') remove();
    atNext(op, 'lost', meanwhile);
    const changed = await counter.increment();
    expect(changed).toMatchObject({ succeeded: true, preValue: before, postValue: before + 1n });
    expect(changed.stats.optimisticTries).toBe(2);
    expect(value()).toBe(before + 1n);
  });

  const anotherNode = () => {
    const { version } = node()!;
    remove();
    insert(15n);
    while (node()!.version <= version) set(value()! + 1n); // to the one that it would have made
  };

  it.each<['setData' | 'create', string, 'lost' | 'unanswered', () => void, unknown]>([
    ['setData', 'it was carried out without an answer', 'unanswered', () => {}, 6n],
    ['setData', 'another one has written the same bytes', 'lost', () => set(6n), 6n],
    ['setData', 'more than one change has come', 'lost', () => [15n, 25n].forEach(set), 25n],
    ['setData', 'the node is another one', 'lost', anotherNode, expect.any(BigInt)],
    ['setData', 'the node is gone', 'unanswered', () => remove(), undefined],
    ['create', 'it was carried out without an answer', 'unanswered', () => {}, 1n],
    [
      'create',
      'another one has made and changed it',
      'lost',
      () => {
        insert(15n);
        set(25n);
      },
      25n,
    ],
  ])('by %s is in doubt, and not tried again, when %s', async (op, _, fate, meanwhile, left) => {
    if (op === 'create') remove();
    const before = changes();
    atNext(op, fate, meanwhile);
    await expectInDoubt(counter.increment());
    expect(value()).toEqual(left);
    expect(changes()).toBe(before + 1);
    const postValue = (value() ?? 0n) + 1n;
    expect(await counter.increment()).toMatchObject({ succeeded: true, postValue });
  });

  it.each<[string, () => void, (change: Promise<unknown>) => Promise<void>, bigint]>([
    ['is in doubt, as what was sent may still arrive', () => {}, expectInDoubt, 5n],
    [
      'is tried again when another one has certainly come before it',
      () => set(15n),
      async (change) => expect(await change).toMatchObject({ preValue: 15n, postValue: 16n }),
      16n,
    ],
  ])('is finished in another session: it %s', async (_, meanwhile, check, left) => {
    const { id } = two.mine.connection.session!;
    atNext('setData', 'lost', () => {
      two.network.isRefusing = true;
      meanwhile();
    });
    const checked = check(counter.increment());
    await two.isAway();
    two.server.expire(id);
    two.network.isRefusing = false;
    await checked;
    expect(two.mine.connection.session!.id).not.toBe(id);
    expect(value()).toBe(left);
  });

  it('stays in doubt when the client closes before it can find out', async () => {
    atNext('setData', 'unanswered', () => (two.network.isRefusing = true));
    const changing = expectInDoubt(counter.increment());
    await two.isAway();
    await two.mine.locks.close();
    await changing;
    expect(value()).toBe(6n);
  });

  it('is tried again in the lock, and gives that back', async () => {
    const retryPolicy = { nextDelay: () => undefined };
    const patient = two.mine.locks.atomicLong('counter', { retryPolicy });
    let turn = 0;
    two.network.fate = ({ op, path }) => {
      if (op !== 'setData' || path !== PATH) return 'served';
      turn += 1;
      if (turn === 1) set(15n);
      return turn === 2 ? 'unanswered' : 'served';
    };
    await expectInDoubt(patient.increment());
    expect(value()).toBe(16n);
    await eventually('the lock is free', () => tree().get(`${PATH}-lock`)?.children.size === 0);
  });

  it('is compared again when the server never got it', async () => {
    atNext('setData', 'lost');
    expect(await counter.compareAndSet(5n, 9n)).toMatchObject({ succeeded: true, postValue: 9n });
    atNext('setData', 'unanswered');
    await expectInDoubt(counter.compareAndSet(9n, 10n));
    expect(value()).toBe(10n);
    atNext('setData', 'lost', () => set(11n));
    const refused = { succeeded: false, preValue: 11n };
    expect(await counter.compareAndSet(10n, 12n)).toMatchObject(refused);
  });

  it('is set by force all the same', async () => {
    atNext('setData', 'unanswered');
    await counter.forceSet(9n);
    atNext('setData', 'lost');
    await counter.forceSet(10n);
    expect(value()).toBe(10n);
  });

  it('is no doubt of the number where its parents are made', async () => {
    remove();
    two.server.remove('/locks');
    two.network.once('unanswered', ({ op, path }) => op === 'create' && path === '/locks');
    expect(await counter.increment()).toMatchObject({ succeeded: true, postValue: 1n });
  });

  it('initializes it once', async () => {
    remove();
    atNext('create', 'lost');
    expect(await counter.initialize(4n)).toBe(true);
    expect(value()).toBe(4n);
    remove();
    atNext('create', 'unanswered');
    await expectInDoubt(counter.initialize(4n));
    expect(value()).toBe(4n);
    remove();
    atNext('create', 'lost', () => insert(5n));
    expect(await counter.initialize(4n)).toBe(false);
    expect(value()).toBe(5n);
  });
});

function bytesOf(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

describe('While no server can be reached', () => {
  const CONNECT_TIMEOUT = 5_000;

  async function join() {
    const world = new VirtualWorld();
    const { locks, network, connection } = await world.join({ connectTimeout: CONNECT_TIMEOUT });
    const run = <T>(work: Promise<T>) => world.clock.runUntil(work);
    return {
      locks,
      run,
      away: () => {
        network.isRefusing = true;
        network.cut();
        return world.clock.runUntil(() => !connection.isConnected);
      },
      back: () => {
        network.isRefusing = false;
        return world.clock.runUntil(() => connection.isConnected);
      },
      expectNoAnswer: async (...requests: Promise<unknown>[]) => {
        const begun = world.clock.now();
        const refused = requests.map((it) =>
          expect(it).rejects.toMatchObject({
            code: 'LOCK_CONNECTION',
            message: expect.stringContaining('no connection to ZooKeeper'),
            cause: { message: expect.stringContaining('no connection to ZooKeeper') },
          }),
        );
        await run(Promise.all(refused));
        expect(world.clock.now()).toBe(begun + CONNECT_TIMEOUT);
      },
    };
  }

  it('a counter rejects after the connectTimeout, and has counted nothing', async () => {
    const { locks, run, away, back, expectNoAnswer } = await join();
    const counter = locks.atomicLong('hits');
    await run(counter.forceSet(1n));
    await away();
    await expectNoAnswer(
      counter.get(),
      counter.increment(),
      counter.compareAndSet(1n, 2n),
      counter.initialize(2n),
      counter.forceSet(2n),
    );
    await back();
    expect(await run(counter.get())).toBe(1n);
    await run(locks.close());
  });

  it('a shared value rejects after the connectTimeout, and is what it was', async () => {
    const { locks, run, away, back, expectNoAnswer } = await join();
    const [value, other] = ['mode', 'other'].map((key) => locks.sharedValue(key, Buffer.from('a')));
    await run(value!.start());
    await away();
    const bytes = Buffer.from('b');
    await expectNoAnswer(other!.start(), other!.trySetValue(bytes), value!.setValue(bytes));
    await expect(run(value!.trySetValue(bytes))).rejects.toThrow(/CONNECTIONLOSS/);
    expect(value!.value.toString()).toBe('a');
    await back();
    expect(await run(value!.trySetValue(bytes))).toBe(true);
    await run(locks.close());
  });
});

describe('A node that was changed more than 2^31 times (CURATOR-688)', () => {
  const [MOST, LEAST] = [2 ** 31 - 1, -(2 ** 31)];

  /** Two clients of nodes that have the version `age` when they are made. */
  async function agedBy(age: number, work: (mine: Client, theirs: Client) => Promise<void>) {
    const server = new EmbeddedServer();
    const clients = [1, 2].map(() =>
      clientOf(server, (direct) => Object.assign(new AgedTransport(direct), { age })),
    );
    const [mine, theirs] = await Promise.all(clients);
    await work(mine!, theirs!);
    await Promise.all([mine!.locks.close(), theirs!.locks.close()]);
  }

  it('goes on as a shared count, for all clients that follow it', () =>
    agedBy(MOST - 1, async (mine, theirs) => {
      const [count, other] = [mine, theirs].map(({ locks }) => locks.sharedCount('limit', 0));
      await count!.start();
      await other!.start();
      for (const [step, version] of [MOST, LEAST, LEAST + 1].entries()) {
        expect(await count!.trySetCount(step + 1, count!.versionedCount)).toBe(true);
        expect(count!.versionedCount).toMatchObject({ value: step + 1, version });
        await eventually('it is known', () => other!.count === step + 1);
      }
      expect(await other!.trySetCount(9)).toBe(true);
      await eventually('it is known', () => count!.count === 9);
    }));

  it('goes on as an atomic number', () =>
    agedBy(MOST - 1, async (mine, theirs) => {
      const [counter, other] = [mine, theirs].map(({ locks }) => locks.atomicLong('hits'));
      for (let step = 0; step < 4; step++) {
        expect(await counter!.increment()).toMatchObject({ succeeded: true });
        expect(await other!.increment()).toMatchObject({ succeeded: true });
      }
      expect(await counter!.get()).toBe(8n);
    }));

  it('is not set as if anything were expected when its version has become -1', () =>
    agedBy(-2, async ({ locks }) => {
      const count = locks.sharedCount('limit', 0);
      await count.start();
      expect(await count.trySetCount(1)).toBe(true);
      expect(count.versionedCount).toMatchObject({ value: 1, version: -1 });
      const refused = count.trySetCount(2);
      await expect(refused).rejects.toBeInstanceOf(LockKeyError);
      await expect(refused).rejects.toThrow(/-1/);
      await expect(count.trySetCount(2, count.versionedCount)).rejects.toBeInstanceOf(LockKeyError);
      expect(count.count).toBe(1);
      await count.setCount(2); // whatever it is: then it goes on
      expect(await count.trySetCount(3)).toBe(true);
      expect(count.versionedCount).toMatchObject({ value: 3, version: 1 });
    }));

  it('is not counted up as if anything were expected when its version has become -1', () =>
    agedBy(-2, async ({ locks }) => {
      const counter = locks.atomicInteger('hits');
      expect(await counter.increment()).toMatchObject({ postValue: 1 });
      expect(await counter.increment()).toMatchObject({ postValue: 2 });
      await expect(counter.increment()).rejects.toBeInstanceOf(LockKeyError);
      await expect(counter.compareAndSet(2, 3)).rejects.toBeInstanceOf(LockKeyError);
      expect(await counter.get()).toBe(2);
      await counter.forceSet(2);
      expect(await counter.increment()).toMatchObject({ succeeded: true, postValue: 3 });
    }));
});
