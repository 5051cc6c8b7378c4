import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../lib/core/clock.js';
import { EmbeddedServer } from '../../../lib/embedded/embedded-server.js';
import { embeddedServers, EmbeddedTransport } from '../../../lib/embedded/embedded-transport.js';
import { CreateMode } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { ZooKeeperError } from '../../../lib/zookeeper/connection/zookeeper-error.js';
import type { DistributedAtomicLong } from '../../../lib/zookeeper/atomic/distributed-atomic-number.js';
import { Client } from '../../contract/client.js';
import { eventually } from '../../support/eventually.js';
import { FaultyTransport } from '../../support/faulty-transport.js';

const PATH = '/locks/counter';

/** The server; another client changes the number directly, at the very moment in which the connection breaks. */
describe('A change of an atomic number over a connection that breaks', () => {
  let server: EmbeddedServer;
  let network: FaultyTransport;
  let client: Client;
  let counter: DistributedAtomicLong;

  beforeEach(async () => {
    server = new EmbeddedServer();
    network = new FaultyTransport(new EmbeddedTransport(server), systemClock);
    client = new Client(network, embeddedServers, {});
    await client.locks.connect();
    counter = client.locks.atomicLong('counter');
    await counter.forceSet(5n);
  });
  afterEach(() => client.locks.close());

  const value = () => server.tree.get(PATH)!.data.readBigInt64BE();
  const set = (to: bigint) => server.tree.setData(PATH, bytesOf(to), server.tree.nextZxid());
  const changes = () => client.requests.filter(({ op }) => op === 'setData' || op === 'create');

  /** What becomes of the next such request, and what happens with that. */
  function atNext(
    op: 'setData' | 'create',
    fate: 'lost' | 'unanswered',
    meanwhile: () => void = () => {},
  ): void {
    network.fate = (request) => {
      if (request.op !== op || request.path !== PATH) return 'served';
      network.fate = () => 'served';
      meanwhile();
      return fate;
    };
  }

  async function expectInDoubt(change: Promise<unknown>): Promise<void> {
    const error: unknown = await change.then(
      (result) => expect(result).toBe('a rejection'),
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(ZooKeeperError);
    expect(error).toMatchObject({ code: 'CONNECTIONLOSS', maybeDone: true, path: PATH });
  }

  it('is tried again when the server never got it, and counted once', async () => {
    atNext('setData', 'lost');
    const changed = await counter.increment();
    expect(changed).toMatchObject({ succeeded: true, preValue: 5n, postValue: 6n });
    expect(changed.stats.optimisticTries).toBe(2);
    expect(value()).toBe(6n);
  });

  it('is not tried again when it was carried out without an answer: the value may come from another client', async () => {
    const before = changes().length;
    atNext('setData', 'unanswered');
    await expectInDoubt(counter.increment());
    expect(value()).toBe(6n);
    expect(changes()).toHaveLength(before + 1);
    expect(await counter.increment()).toMatchObject({ succeeded: true, postValue: 7n });
  });

  it('is not taken for done when another one has written the same bytes', async () => {
    atNext('setData', 'lost', () => set(6n));
    await expectInDoubt(counter.increment());
    expect(value()).toBe(6n);
  });

  it('is tried again when another one has certainly come before it', async () => {
    atNext('setData', 'lost', () => set(15n));
    const changed = await counter.increment();
    expect(changed).toMatchObject({ succeeded: true, preValue: 15n, postValue: 16n });
    expect(value()).toBe(16n);
  });

  it('is in doubt when more than one change has come', async () => {
    atNext('setData', 'lost', () => {
      set(15n);
      set(25n);
    });
    await expectInDoubt(counter.increment());
    expect(value()).toBe(25n);
  });

  it('is in doubt when the node is another one', async () => {
    atNext('setData', 'lost', () => {
      const { version } = server.tree.get(PATH)!;
      server.remove(PATH);
      insert(15n);
      while (server.tree.get(PATH)!.version <= version) set(value() + 1n); // to the one that it would have made
    });
    await expectInDoubt(counter.increment());
    expect(server.tree.get(PATH)!.version).toBeGreaterThan(0);
  });

  it('is in doubt when the node is gone', async () => {
    atNext('setData', 'unanswered', () => server.remove(PATH));
    await expectInDoubt(counter.increment());
    expect(server.tree.get(PATH)).toBeUndefined();
  });

  it('is in doubt in another session, where what was sent may still arrive', async () => {
    const { id } = client.connection.session!;
    atNext('setData', 'lost', () => (network.isRefusing = true));
    const changing = expectInDoubt(counter.increment());
    await eventually('it is away', () => !client.connection.isConnected);
    server.expire(id);
    network.isRefusing = false;
    await changing;
    expect(client.connection.session!.id).not.toBe(id);
    expect(value()).toBe(5n);
  });

  it('is tried again in another session too when another one has certainly come before it', async () => {
    const { id } = client.connection.session!;
    atNext('setData', 'lost', () => {
      network.isRefusing = true;
      set(15n);
    });
    const changing = counter.increment();
    await eventually('it is away', () => !client.connection.isConnected);
    server.expire(id);
    network.isRefusing = false;
    expect(await changing).toMatchObject({ succeeded: true, preValue: 15n, postValue: 16n });
  });

  it('stays in doubt when the client closes before it can find out', async () => {
    atNext('setData', 'unanswered', () => (network.isRefusing = true));
    const changing = expectInDoubt(counter.increment());
    await eventually('it is away', () => !client.connection.isConnected);
    await client.locks.close();
    await changing;
    expect(value()).toBe(6n);
  });

  it('is tried again in the lock, and gives that back', async () => {
    const patient = client.locks.atomicLong('counter', {
      retryPolicy: { nextDelay: () => undefined },
    });
    let turn = 0;
    network.fate = ({ op, path }) => {
      if (op !== 'setData' || path !== PATH) return 'served';
      turn += 1;
      if (turn === 1) set(15n);
      return turn === 2 ? 'unanswered' : 'served';
    };
    await expectInDoubt(patient.increment());
    expect(value()).toBe(16n);
    await eventually(
      'the lock is free',
      () => server.tree.get(`${PATH}-lock`)?.children.size === 0,
    );
  });

  it('is compared again when the server never got it', async () => {
    atNext('setData', 'lost');
    expect(await counter.compareAndSet(5n, 9n)).toMatchObject({ succeeded: true, postValue: 9n });
    atNext('setData', 'unanswered');
    await expectInDoubt(counter.compareAndSet(9n, 10n));
    expect(value()).toBe(10n);
    atNext('setData', 'lost', () => set(11n));
    expect(await counter.compareAndSet(10n, 12n)).toMatchObject({
      succeeded: false,
      preValue: 11n,
    });
  });

  it('is set by force all the same', async () => {
    atNext('setData', 'unanswered');
    await counter.forceSet(9n);
    atNext('setData', 'lost');
    await counter.forceSet(10n);
    expect(value()).toBe(10n);
  });

  describe('that makes the number', () => {
    beforeEach(() => void server.remove(PATH));

    it('is tried again when the server never got it', async () => {
      atNext('create', 'lost');
      expect(await counter.increment()).toMatchObject({ succeeded: true, postValue: 1n });
      expect(value()).toBe(1n);
    });

    it('is in doubt when it was carried out without an answer', async () => {
      atNext('create', 'unanswered');
      await expectInDoubt(counter.increment());
      expect(value()).toBe(1n);
    });

    it('is tried again when another one has certainly made it', async () => {
      atNext('create', 'lost', () => insert(15n));
      expect(await counter.increment()).toMatchObject({ succeeded: true, postValue: 16n });
    });

    it('is in doubt when another one has made and changed it', async () => {
      atNext('create', 'lost', () => {
        insert(15n);
        set(25n);
      });
      await expectInDoubt(counter.increment());
      expect(value()).toBe(25n);
    });

    it('is no doubt of the number where its parents are made', async () => {
      server.remove('/locks');
      network.once('unanswered', ({ op, path }) => op === 'create' && path === '/locks');
      expect(await counter.increment()).toMatchObject({ succeeded: true, postValue: 1n });
    });

    it('initializes it once', async () => {
      atNext('create', 'lost');
      expect(await counter.initialize(4n)).toBe(true);
      expect(value()).toBe(4n);
      server.remove(PATH);
      atNext('create', 'unanswered');
      await expectInDoubt(counter.initialize(4n));
      expect(value()).toBe(4n);
      server.remove(PATH);
      atNext('create', 'lost', () => insert(5n));
      expect(await counter.initialize(4n)).toBe(false);
      expect(value()).toBe(5n);
    });
  });

  function insert(number: bigint): void {
    const { tree } = server;
    const origin = { data: bytesOf(number), mode: CreateMode.PERSISTENT, sessionId: '0' };
    tree.insert(PATH, { ...origin, zxid: tree.nextZxid() });
  }
});

function bytesOf(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}
