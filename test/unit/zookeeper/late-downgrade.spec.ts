import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../lib/core/clock.js';
import type { Request } from '../../../lib/zookeeper/connection/transport.js';
import type { ZooKeeperLease } from '../../../lib/zookeeper/locks/zookeeper-lease.js';
import { Client } from '../../contract/client.js';
import { EmbeddedBackend } from '../../contract/embedded-backend.js';
import { eventually } from '../../support/eventually.js';
import { FaultyTransport } from '../../support/faulty-transport.js';
import { isSettled } from '../../support/is-settled.js';

describe('A downgrade over a connection with faults', () => {
  let backend: EmbeddedBackend;
  let network: FaultyTransport;
  let mine: Client;
  let theirs: Client;
  let writer: ZooKeeperLease;

  beforeEach(async () => {
    backend = new EmbeddedBackend();
    const { transport, servers } = await backend.connect();
    network = new FaultyTransport(transport, systemClock);
    mine = new Client(network, servers, {});
    theirs = new Client(transport, servers, {});
    await Promise.all([mine.locks.connect(), theirs.locks.connect()]);
    writer = await mine.locks.readWriteLock('door').writeLock().acquire();
    await writer.fencingToken(); // it watches its node, so it need not look before it asks
  });
  afterEach(() => Promise.all([mine.locks.close(), theirs.locks.close()]));

  it('lets no writer read on after its node was deleted, though it asks before it could learn of that', async () => {
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
    const queued = theirs.writeLock('door').acquire();
    network.once(fate, isCreateOfReader);
    const reader = await writer.run(() => mine.readLock('door').acquire());
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
    const queued = theirs.writeLock('door').acquire();
    const ended = mine.connection.session!;
    network.isRefusing = true;
    network.once('unanswered', isCreateOfReader);
    const reading = writer.run(() => mine.readLock('door').acquire());
    await eventually('it is away', () => !mine.connection.isConnected);
    await backend.expire(ended);
    const other = await queued;
    network.isRefusing = false;
    await eventually('it queues', async () => (await nodes()).length === 2);
    expect(await nodes()).toEqual([
      expect.stringMatching(/__WRIT__0000000001$/),
      expect.stringMatching(/__READ__0000000003$/),
    ]);
    expect([writer.isHeld, await isSettled(reading)]).toEqual([false, false]);
    await other.release();
    await (await reading).release();
  });

  it('comes to nothing where its deadline is over first, and its node is removed', async () => {
    network.once('unanswered', isCreateOfReader);
    network.isRefusing = true;
    const reading = writer.run(() => mine.readLock('door').acquire({ wait: 50 }));
    await expect(reading).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    expect(await nodes()).toHaveLength(2);
    network.isRefusing = false;
    await eventually('it is removed', async () => (await nodes()).length === 1);
    expect(writer.isHeld).toBe(true);
  });

  const isCreateOfReader = ({ op, path }: Request) => op === 'create' && path.includes('__READ__');

  async function nodes(): Promise<string[]> {
    const children = await theirs.connection.getChildren('/locks/door');
    return children.sort((a, b) => Number(a.slice(-10)) - Number(b.slice(-10)));
  }
});
