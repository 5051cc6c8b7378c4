import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { LockLostError } from '../../../lib/core/errors/index.js';
import type { Lease } from '../../../lib/core/lease.js';
import { Deferred } from '../../support/deferred.js';
import { eventually } from '../../support/eventually.js';
import { ZooKeeperServer } from '../../support/zookeeper-server.js';
import { CriticalSection } from '../support/critical-section.js';
import { TestClient } from '../support/test-client.js';

describe('A mutex, when another client deletes nodes in its directory,', () => {
  let server: ZooKeeperServer;
  let stranger: TestClient;
  let clients: TestClient[];
  let key: string;
  let directory: string;

  beforeAll(async () => {
    server = await ZooKeeperServer.start();
    stranger = await TestClient.connect(server.connectString);
    clients = await Promise.all([0, 1, 2].map(() => TestClient.connect(server.connectString)));
  });
  afterAll(async () => {
    await Promise.all([stranger, ...clients].map((client) => client.locks.close()));
    await server.stop();
  });

  beforeEach(() => {
    key = randomUUID();
    directory = `/locks/${key}`;
  });

  const remove = (node: string | undefined) => stranger.connection.delete(`${directory}/${node}`);

  describe('is taken from a holder', () => {
    /** Resolves when the loss is reported; the next one may be granted the lock at the same time, which cannot be prevented. */
    async function expectLost(lease: Lease): Promise<void> {
      await eventually('the signal of the holder aborts', () => lease.signal.aborted);
      expect(lease.signal.reason).toBeInstanceOf(LockLostError);
      expect(lease.isHeld).toBe(false);
      expect(() => lease.assertHeld()).toThrow(LockLostError);
    }

    it('that has just been granted it', async () => {
      const lease = await clients[0]!.locks.mutex(key).acquire();
      const queued = clients[1]!.locks.mutex(key).acquire();
      const [holding] = await stranger.queue(directory, 2);
      await remove(holding);
      await expectLost(lease);
      await (await queued).release();
      await lease.release();
    });

    it('that had waited for it', async () => {
      const first = await clients[0]!.locks.mutex(key).acquire();
      const queued = clients[1]!.locks.mutex(key).acquire();
      const [, waiting] = await stranger.queue(directory, 2);
      await first.release();
      const lease = await queued;
      await remove(waiting);
      await expectLost(lease);
      await lease.release();
    });

    it('that has held it for long', async () => {
      const lease = await clients[0]!.locks.mutex(key).acquire();
      const [holding] = await stranger.queue(directory, 1);
      await lease.fencingToken();
      await remove(holding);
      await expectLost(lease);
      await lease.release();
    });
  });

  it.each([
    ['the first', 1, ['0', '2', '1']],
    ['a later', 2, ['0', '1', '2']],
  ])('lets %s waiter queue again at the end', async (_, victim, order) => {
    const section = new CriticalSection();
    const gate = new Deferred();
    const visits = [];
    for (const [n, { locks }] of clients.entries()) {
      visits.push(
        locks.mutex(key).using(async () => {
          section.enter(String(n));
          await gate.promise;
          section.leave();
        }),
      );
      await stranger.queue(directory, n + 1);
    }
    const before = await stranger.queue(directory, 3);
    await remove(before[victim]);
    const after = await eventually('queued again', async () => {
      const nodes = await stranger.queue(directory, 3);
      return !nodes.includes(before[victim]!) && nodes;
    });
    expect(after.slice(0, 2)).toEqual(before.filter((node) => node !== before[victim]));
    expect(section.visitors).toEqual(['0']);

    gate.resolve();
    await Promise.all(visits);
    expect(section.visitors).toEqual(order);
    expect(section.most).toBe(1);
  });

  it('grants nothing to the first waiter when its node goes just before that of the holder', async () => {
    const section = new CriticalSection();
    const holder = await clients[0]!.locks.mutex(key).acquire();
    const visits = [];
    for (const n of [1, 2]) {
      visits.push(
        clients[n]!.locks.mutex(key).using(async () => {
          section.enter(String(n));
          await stranger.connection.sync('/');
          section.leave();
        }),
      );
      await stranger.queue(directory, n + 1);
    }
    const [holding, first] = await stranger.queue(directory, 3);
    await Promise.all([remove(first), remove(holding)]);
    await Promise.all(visits);
    expect(section.visitors).toEqual(['2', '1']);
    expect(section.most).toBe(1);
    await holder.release();
  });
});
