import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LockConnectionError } from '../../../lib/core/errors/index.js';
import { systemClock } from '../../../lib/core/clock.js';
import type { Request } from '../../../lib/zookeeper/connection/transport.js';
import type { DistributedBarrier } from '../../../lib/zookeeper/barriers/distributed-barrier.js';
import { Client } from '../../contract/client.js';
import { EmbeddedBackend } from '../../contract/embedded-backend.js';
import { eventually } from '../../support/eventually.js';
import { FaultyTransport } from '../../support/faulty-transport.js';
import { isSettled } from '../../support/is-settled.js';

const PATH = '/locks/gate';

describe('A barrier over a bad network', () => {
  let network: FaultyTransport;
  let mine: Client;
  let theirs: Client;
  let ours: DistributedBarrier;
  let other: DistributedBarrier;

  beforeEach(async () => {
    const { transport, servers } = await new EmbeddedBackend().connect();
    network = new FaultyTransport(transport, systemClock);
    mine = new Client(network, servers, {});
    theirs = new Client(transport, servers, {});
    await Promise.all([mine.locks.connect(), theirs.locks.connect()]);
    ours = mine.locks.barrier('gate');
    other = theirs.locks.barrier('gate');
  });
  afterEach(() => Promise.all([mine.locks.close(), theirs.locks.close()]));

  const isSet = async () => (await theirs.connection.exists(PATH)) !== undefined;

  /** Decides the fate of the first request of that kind; the returned function says whether there was one. */
  function once(fate: 'lost' | 'unanswered', op: Request['op'], path = PATH): () => boolean {
    let isHit = false;
    network.once(fate, (it) => (isHit = it.op === op && it.path === path));
    return () => isHit;
  }

  describe.each(['lost', 'unanswered'] as const)('where a request is %s', (fate) => {
    it.each([PATH, '/locks'])('is set when that was to create %s', async (path) => {
      const isHit = once(fate, 'create', path);
      await ours.setBarrier();
      expect(isHit()).toBe(true);
      expect(await isSet()).toBe(true);
    });

    it('is removed', async () => {
      await ours.setBarrier();
      const isHit = once(fate, 'delete');
      await ours.removeBarrier();
      expect(isHit()).toBe(true);
      expect(await isSet()).toBe(false);
    });

    it.each(['sync', 'getData'] as const)('is waited at when that was to %s', async (op) => {
      await other.setBarrier();
      const isHit = once(fate, op);
      const over = ours.waitOnBarrier({ wait: 60_000 });
      await eventually('it has met with that', isHit);
      await eventually('it is connected again', () => mine.connection.isConnected);
      await eventually('it has looked', () => looks() > (op === 'sync' ? 0 : 1));
      await mine.connection.exists('/');
      expect(await isSettled(over)).toBe(false);
      await other.removeBarrier();
      await over;
    });
  });

  it('lets a waiter through that was away when it was removed', async () => {
    await other.setBarrier();
    const over = ours.waitOnBarrier({ wait: 60_000 });
    await eventually('it has looked', () => looks() === 1);
    network.isRefusing = true;
    network.cut();
    await eventually('it is away', () => !mine.connection.isConnected);
    await other.removeBarrier();
    expect(await isSettled(over)).toBe(false);
    network.isRefusing = false;
    await over;
  });

  it('is not set while its directory cannot be made', async () => {
    // A node of a session may have no children.
    const locks = await theirs.connection.create('/locks', Buffer.alloc(0), 1);
    const refused = ours.setBarrier();
    await expect(refused).rejects.not.toBeInstanceOf(LockConnectionError);
    await expect(refused).rejects.toMatchObject({ code: 'NOCHILDRENFOREPHEMERALS' });
    await theirs.connection.delete(locks);
    await ours.setBarrier();
  });

  const looks = () => mine.requests.filter(({ op }) => op === 'getData').length;
});
