import { beforeEach, describe, expect, it } from '@jest/globals';
import { EmbeddedServer } from '../../../lib/embedded/embedded-server.js';
import type { Request, Transport } from '../../../lib/zookeeper/connection/transport.js';
import type { ZooKeeperLease } from '../../../lib/zookeeper/locks/zookeeper-lease.js';
import { revocationsOf } from '../../contract/backends/leases.js';
import { eventually, isSettled } from '../../support/time.js';
import { type Client } from '../../contract/backends/zookeeper.js';
import { clientOf, useTwoClients } from './world.js';

describe('An acquire with more data than the servers accept, which hang up on it,', () => {
  const two = useTwoClients();
  const isTooLong = (request: Request) => request.op === 'create' && request.data.length > 20_000;

  it.each([
    ['mutex', (client: Client, data: Buffer) => client.locks.mutex('big', { data }).acquire()],
    [
      'semaphore',
      (client: Client, data: Buffer) =>
        client.locks.semaphore('big', { permits: 2, data }).acquire(),
    ],
  ])('of a %s is refused, and the locks of its client are kept', async (_, acquire) => {
    const { network, mine, theirs } = two;
    const held = await mine.lock('door').acquire();
    network.fate = (request) => (isTooLong(request) ? 'lost' : 'served');
    await expect(acquire(mine, Buffer.alloc(20_001))).rejects.toMatchObject({
      code: 'LOCK_CONNECTION',
      key: 'big',
      message: expect.stringMatching(/20001 bytes.*`jute\.maxbuffer`/),
    });
    expect([held.isHeld, await theirs.lock('door').tryAcquire()]).toEqual([true, undefined]);
    await (await acquire(mine, Buffer.alloc(20_000))).release();
  });

  it('is refused as a shared value is, too', async () => {
    const { network, mine } = two;
    const held = await mine.lock('door').acquire();
    const value = mine.locks.sharedValue('value', Buffer.alloc(0));
    await value.start();
    let breaks = 0;
    network.fate = (request) => {
      if (request.op !== 'setData' || request.data.length <= 20_000) return 'served';
      breaks += 1;
      return 'lost';
    };
    await expect(value.setValue(Buffer.alloc(20_001))).rejects.toMatchObject({
      code: 'LOCK_CONNECTION',
      key: 'value',
      message: expect.stringMatching(/20001 bytes.*`jute\.maxbuffer`/),
    });
    expect([breaks, held.isHeld]).toEqual([3, true]);
  });

  it('goes on where only the looks for its node went missing', async () => {
    let [lost, created] = [0, 0];
    two.network.fate = ({ op }) => {
      if (op === 'create') return (created += 1) === 1 ? 'unanswered' : 'served';
      return op === 'getChildren' && (lost += 1) <= 6 ? 'lost' : 'served';
    };
    const data = Buffer.alloc(20_001);
    await (await two.mine.locks.mutex('found', { data }).acquire()).release();
    expect(lost).toBeGreaterThan(6);
  });

  it('of little data goes on, as that is not the reason', async () => {
    let lost = 0;
    two.network.fate = ({ op }) => (op === 'create' && (lost += 1) <= 6 ? 'lost' : 'served');
    const data = Buffer.alloc(16_000);
    await (await two.mine.locks.mutex('small', { data }).acquire()).release();
    expect(lost).toBeGreaterThan(6);
  });
});

describe('A downgrade over a connection with faults', () => {
  const two = useTwoClients();
  let writer: ZooKeeperLease;

  beforeEach(async () => {
    writer = await two.mine.locks.readWriteLock('door').writeLock().acquire();
    writer.makeRevocable(() => {}); // it watches its node from now on
    await two.caughtUp();
  });

  it('lets no writer read on after its node was deleted, though it asks before it could learn of that', async () => {
    const { network, mine, theirs } = two;
    network.partition();
    await theirs.connection.delete(writer.paths[0]!);
    const other = await theirs.writeLock('door').acquire();
    expect([writer.isHeld, other.isHeld]).toEqual([true, true]); // neither client could know better

    const asked = mine.requests.length;
    const reading = writer.run(() => mine.readLock('door').tryAcquire());
    await eventually('it asks', () => mine.requests.length > asked);
    network.heal();
    expect(await reading).toBeUndefined();
    expect([writer.isHeld, other.isHeld]).toEqual([false, true]);
    expect(await nodes()).toEqual([expect.stringMatching(/__WRIT__0000000001$/)]);
  });

  it.each([
    ['goes missing', 'lost'],
    ['is carried out, but its answer goes missing', 'unanswered'],
  ] as const)('goes on with one node, where the create %s', async (_, fate) => {
    const queued = two.theirs.writeLock('door').acquire();
    two.network.once(fate, isCreateOfReader);
    const reader = await reading();
    await writer.release();
    expect(reader.isHeld).toBe(true);
    expect(await isSettled(queued)).toBe(false);
    expect(await nodes()).toEqual([
      expect.stringMatching(/__READ__0000000000$/),
      expect.stringMatching(/__WRIT__0000000001$/),
    ]);
    await reader.release();
    await (await queued).release();
  });

  it('comes to nothing where the session ends after the create: the reader queues', async () => {
    const queued = two.theirs.writeLock('door').acquire();
    const { id } = two.mine.connection.session!;
    two.network.isRefusing = true;
    two.network.once('unanswered', isCreateOfReader);
    const reader = reading();
    await two.isAway();
    two.server.expire(id);
    const other = await queued;
    two.network.isRefusing = false;
    await eventually('it queues', async () => (await nodes()).length === 2);
    expect(await nodes()).toEqual([
      expect.stringMatching(/__WRIT__0000000001$/),
      expect.stringMatching(/__READ__0000000003$/),
    ]);
    expect([writer.isHeld, await isSettled(reader)]).toEqual([false, false]);
    await other.release();
    await (await reader).release();
  });

  it('comes to nothing where its deadline is over first, and its node is removed', async () => {
    two.network.once('unanswered', isCreateOfReader);
    two.network.isRefusing = true;
    await expect(reading({ wait: 50 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    expect(await nodes()).toHaveLength(2);
    two.network.isRefusing = false;
    await eventually('it is removed', async () => (await nodes()).length === 1);
    expect(writer.isHeld).toBe(true);
  });

  const isCreateOfReader = ({ op, path }: Request) => op === 'create' && path.includes('__READ__');
  const reading = (options?: { wait: number }) =>
    writer.run(() => two.mine.readLock('door').acquire(options));

  async function nodes(): Promise<string[]> {
    const children = await two.theirs.connection.getChildren('/locks/door');
    return children.sort((a, b) => Number(a.slice(-10)) - Number(b.slice(-10)));
  }
});

describe('A wait that is over while there is no connection', () => {
  const two = useTwoClients();

  it.each<[string, () => Promise<unknown>]>([
    ['a mutex', () => two.mine.mutex('door').acquire({ wait: 200 })],
    ['a mutex, at once', () => two.mine.mutex('door').tryAcquire({ wait: 200 })],
    ['a permit', () => two.mine.locks.semaphore('seats', { permits: 1 }).acquire({ wait: 200 })],
    ['a barrier', () => two.mine.locks.doubleBarrier('gate', 2).enter({ wait: 200 })],
    [
      'several locks',
      () =>
        two.mine.locks.multiLock([two.mine.mutex('a'), two.mine.mutex('b')]).acquire({ wait: 200 }),
    ],
  ])('says so, as it is no contention: %s', async (_, ask) => {
    await two.cutOff();
    const refused = expect(ask()).rejects;
    await refused.toMatchObject({
      code: 'LOCK_TIMEOUT',
      message: expect.stringMatching(/no connection to ZooKeeper: .+Check the servers\.$/),
      cause: expect.any(Error),
    });
    two.network.isRefusing = false;
  });

  it('says nothing of an earlier one', async () => {
    await using _ = await two.theirs.mutex('door').acquire();
    await two.away();
    const refused = two.mine.mutex('door').acquire({ wait: 1 });
    await expect(refused).rejects.toThrow(/not granted within 1 ms/);
    await expect(refused).rejects.not.toHaveProperty('cause');
  });
});

describe('A fencing token', () => {
  const two = useTwoClients();

  it('comes with the create: it costs no request', async () => {
    const { mine, theirs } = two;
    const before = mine.requests.length;
    await using lease = await mine.mutex('door').acquire();
    const token = await lease.fencingToken();
    const { czxid } = (await theirs.connection.exists(lease.paths[0]!))!;
    expect(token).toBe(BigInt(czxid));
    expect(mine.requests.slice(before).filter(({ op }) => op === 'getData')).toEqual([]);
  });

  it('is read from a node that was found after the answer to its create was lost', async () => {
    const { mine, theirs, network } = two;
    await mine.mutex('door').using(() => {});
    network.once('unanswered', ({ op, path }) => op === 'create' && path.includes('lock-'));
    await using lease = await mine.mutex('door').acquire();
    const before = mine.requests.length;
    const token = await lease.fencingToken();
    const { czxid } = (await theirs.connection.exists(lease.paths[0]!))!;
    expect(token).toBe(BigInt(czxid));
    expect(mine.requests.slice(before).map(({ op }) => op)).toEqual(['getData']);
  });
});

describe('A revocation while the holder alone has lost its connection', () => {
  const two = useTwoClients();

  it('is reported once when the holder is back, however often it was asked for, not again after the next loss', async () => {
    const lease = await two.mine.mutex('door').acquire();
    const told = revocationsOf(lease);
    await two.caughtUp(); // it watches its node by now
    await two.away(async () => {
      for (let time = 0; time < 3; time++)
        expect(await two.theirs.locks.revoke(lease.paths[0]!)).toBe(true);
    });
    await eventually('its listener is called', () => told.length > 0);
    await two.away();
    await two.caughtUp();
    expect(told).toEqual([lease]);
    expect(lease.isHeld).toBe(true);
  });

  it('is reported when the holder is back, also to a listener that was added meanwhile', async () => {
    const lease = await two.mine.mutex('door').acquire();
    const told: unknown[] = [];
    await two.away(async () => {
      lease.makeRevocable((revoked) => told.push(revoked));
      await two.theirs.locks.revoke(lease.paths[0]!);
      expect(told).toEqual([]);
    });
    await eventually('its listener is called', () => told.length > 0);
    await two.caughtUp();
    expect(told).toEqual([lease]);
  });

  it('is reported to the waiter that was asked, once it holds and listens', async () => {
    const holder = await two.theirs.mutex('door').acquire();
    const waiting = two.mine.mutex('door').acquire();
    const [, waiter] = await eventually('it queues', async () => {
      const queue = await two.theirs.mutex('door').participants();
      return queue.length === 2 && queue;
    });
    await two.away(async () => {
      await two.theirs.locks.revoke(waiter!);
      await holder.release();
    });
    const lease = await waiting;
    const told = revocationsOf(lease);
    await eventually('its listener is called', () => told.length > 0);
    expect(lease.paths).toEqual([waiter]);
  });
});

describe('At whatever moment of the grant', () => {
  /** More than there are between the news of a turn and the lease. */
  const MOST_TICKS = 60;

  /** What became of the waiter, for an end after each of so many promise continuations. */
  async function outcomes(endAfter: (ticks: number) => Promise<string>): Promise<string[]> {
    const all = new Set<string>();
    for (let ticks = 0; ticks < MOST_TICKS; ticks++) all.add(await endAfter(ticks));
    return [...all];
  }

  it('a client is closed, no waiter holds a lock after that', async () => {
    expect(await outcomes(closeDuringGrant)).toEqual(['LOCK_CLIENT_CLOSED', 'lost lease']);
  });

  it('a client is closed, no waiter holds a permit after that', async () => {
    const close = ({ locks }: Client) => void locks.close();
    const ends = await outcomes((ticks) => endPermitDuringGrant(ticks, close));
    expect(ends).toEqual(['LOCK_CLIENT_CLOSED', 'lost lease']);
  });

  it('its signal aborts, a waiter for a permit has one or leaves nothing', async () => {
    const abort = (_: Client, stop: AbortController) => stop.abort();
    const ends = await outcomes((ticks) => endPermitDuringGrant(ticks, abort));
    expect(ends).toEqual(['LOCK_ABORTED, 0 left', 'held lease']);
  });

  /** Closes a client that long after the waiter has heard that its turn has come. */
  async function closeDuringGrant(ticks: number): Promise<string> {
    const client = await clientOf(new EmbeddedServer());
    const mutex = client.mutex('door');
    const holder = await mutex.acquire();
    const waiting = mutex.acquire();
    await contended(client);
    const [first] = await mutex.participants();
    let closing!: Promise<void>;
    const closed = new Promise<void>((resolve) => {
      const close = async () => {
        await afterTicks(ticks);
        closing = client.locks.close();
        resolve();
      };
      void client.connection.getData(first!, () => void close());
    });
    void holder.release();
    await closed;
    return outcomeOf(waiting).finally(() => closing);
  }

  /** Ends an acquire that long after the answer that a permit is free. */
  async function endPermitDuringGrant(
    ticks: number,
    end: (client: Client, stop: AbortController) => void,
  ): Promise<string> {
    let onListed = () => {};
    const client = await clientOf(new EmbeddedServer(), (direct) =>
      tapped(direct, () => onListed()),
    );
    const semaphore = client.locks.semaphore('pool', { permits: 1 });
    const holder = await semaphore.acquire();
    const stop = new AbortController();
    const waiting = semaphore.acquire({ signal: stop.signal });
    waiting.catch(() => {}); // read below
    await contended(client);
    await client.connection.exists('/'); // when that is answered, it listens
    const ended = new Promise<void>((resolve) => {
      onListed = () => {
        onListed = () => {};
        void afterTicks(ticks).then(() => {
          end(client, stop);
          resolve();
        });
      };
    });
    await Promise.all([holder.release(), ended]);
    const outcome = await outcomeOf(waiting);
    const isLeft = outcome === 'LOCK_ABORTED';
    const left = isLeft ? `, ${(await semaphore.participants()).length} left` : '';
    await client.locks.close();
    return outcome + left;
  }

  const contended = ({ locks }: Client) =>
    new Promise<void>((resolve) => locks.on('contended', () => resolve()));

  const outcomeOf = (waiting: Promise<{ isHeld: boolean }>): Promise<string> =>
    waiting.then(
      ({ isHeld }) => (isHeld ? 'held lease' : 'lost lease'),
      ({ code }: { code: string }) => code,
    );

  async function afterTicks(ticks: number): Promise<void> {
    for (let i = 0; i < ticks; i++) await Promise.resolve();
  }

  /** Calls `onListed` just before a list of children is answered. */
  function tapped(transport: Transport, onListed: () => void): Transport {
    return {
      open: (options, listener) => {
        const link = transport.open(options, listener);
        return {
          request: (request, reply) =>
            link.request(request, (...answer) => {
              if (request.op === 'getChildren') onListed();
              reply(...answer);
            }),
          detach: (session) => link.detach(session),
          close: () => link.close(),
        };
      },
      close: () => transport.close(),
    };
  }
});
