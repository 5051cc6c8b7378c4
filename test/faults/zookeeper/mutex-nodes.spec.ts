import { beforeEach, describe, expect, it } from '@jest/globals';
import { LockClientClosedError, LockLostError } from '../../../lib/core/errors/index.js';
import type { Lease } from '../../../lib/core/lease.js';
import { attachSession, expireSession } from '../../support/zookeeper-session.js';
import { Deferred, eventually } from '../../support/time.js';
import { OpCode } from '../../support/zookeeper-proxy.js';
import { CriticalSection } from '../support/leases.js';
import type { TestClient } from '../support/test-client.js';
import { useZooKeeperStage } from '../support/zookeeper-stage.js';

const LOOKS = [OpCode.getData, OpCode.getChildren, OpCode.getChildren2] as const;

const stage = useZooKeeperStage({ containerCheckIntervalMs: 100 });

describe('A mutex', () => {
  let waiter: TestClient;

  const ownerOf = async (node: string) =>
    (await stage.other.connection.exists(`${stage.directory}/${node}`))?.ephemeralOwner;

  beforeEach(async () => void (waiter = await stage.far({ sessionTimeout: 3_000 })));

  it('is queued for again when the session expires meanwhile', async () => {
    const { key, server, proxy, other } = stage;
    const lease = await other.locks.mutex(key).acquire();
    const queued = waiter.locks.mutex(key).acquire();
    const [holding, expired] = await stage.queue(2);
    const old = waiter.connection.session!;

    proxy.refuse();
    await expireSession(server, old);
    await proxy.accept();
    const [first, again] = await eventually('queued again', async () => {
      const nodes = await stage.queue(2);
      return !nodes.includes(expired!) && nodes;
    });
    const session = waiter.connection.session!;
    expect(session.id).not.toBe(old.id);
    expect(first).toBe(holding);
    expect(await ownerOf(again!)).toBe(session.id);

    await lease.release();
    const next = await queued;
    expect(next.isHeld).toBe(true);
    expect(await stage.queue(1)).toEqual([again]);
    await next.release();
  });

  it('is never granted on a node of a session that was given up, though the servers still keep it (CURATOR-604)', async () => {
    const { key, server, proxy, other } = stage;
    const lease = await other.locks.mutex(key).acquire();
    let isGranted = false;
    const queued = waiter.locks.mutex(key).acquire();
    void queued.then(() => (isGranted = true));
    const [, stale] = await stage.queue(2);

    // The waiter is cut off and gives its session up, but the server goes on hearing of that session.
    proxy.refuse();
    const session = await attachSession(server, waiter.connection.session!);
    await waiter.reached('LOST');
    await proxy.accept();
    const [, , fresh] = await stage.queue(3);
    await lease.release();

    expect(await stage.queue(2)).toEqual([stale, fresh]);
    const looks = proxy.requestCount(...LOOKS);
    await other.connection.setData(`${stage.directory}/${stale}`, Buffer.from('look again'));
    await eventually('the waiter has looked again', () => proxy.requestCount(...LOOKS) > looks);
    expect(await other.locks.mutex(key).tryAcquire()).toBeUndefined();
    expect(isGranted).toBe(false);

    session.close();
    const next = await queued;
    expect(next.isHeld).toBe(true);
    expect(await stage.queue(1)).toEqual([fresh]);
    await next.release();
  });

  it('is acquired again after its directory was collected', async () => {
    const { connection } = stage.other;
    const mutex = waiter.locks.mutex(stage.key);
    for (let round = 0; round < 3; round++) {
      await mutex.using(() => {});
      await eventually('collected', async () => !(await connection.exists(stage.directory)));
    }
    expect(await mutex.participants()).toEqual([]);
    await using lease = await mutex.acquire();
    expect(lease.isHeld).toBe(true);
  });

  it('rejects all of its 20 waiters when their client is closed, and keeps none of their nodes', async () => {
    const { key, other } = stage;
    const lease = await other.locks.mutex(key).acquire();
    const waits = Array.from({ length: 20 }, () => waiter.locks.mutex(key).acquire());
    const outcomes = Promise.allSettled(waits);
    const [holding] = await stage.queue(21);
    await waiter.locks.close();
    expect(await other.children(stage.directory)).toEqual([holding]);
    for (const outcome of await outcomes)
      expect(outcome).toMatchObject({ reason: expect.any(LockClientClosedError) as unknown });
    expect(lease.isHeld).toBe(true);
    await lease.release();
  });
});

describe('A mutex, when another client deletes nodes in its directory,', () => {
  let mutexes: ReturnType<TestClient['locks']['mutex']>[];

  beforeEach(async () => {
    const clients = await Promise.all([0, 1, 2].map(() => stage.near()));
    mutexes = clients.map(({ locks }) => locks.mutex(stage.key));
  });

  const remove = (node: string | undefined) =>
    stage.other.connection.delete(`${stage.directory}/${node}`);

  describe('is taken from a holder', () => {
    /** Resolves when the loss is reported; the next one may be granted the lock at the same time, which cannot be prevented. */
    async function expectLost(lease: Lease): Promise<void> {
      await eventually('the signal of the holder aborts', () => lease.signal.aborted);
      expect(lease.signal.reason).toBeInstanceOf(LockLostError);
      expect(lease.isHeld).toBe(false);
      expect(() => lease.assertHeld()).toThrow(LockLostError);
      await lease.release();
    }

    it('that has just been granted it', async () => {
      const lease = await mutexes[0]!.acquire();
      const queued = mutexes[1]!.acquire();
      const [holding] = await stage.queue(2);
      await remove(holding);
      await expectLost(lease);
      await (await queued).release();
    });

    it('that had waited for it', async () => {
      const first = await mutexes[0]!.acquire();
      const queued = mutexes[1]!.acquire();
      const [, waiting] = await stage.queue(2);
      await first.release();
      const lease = await queued;
      await remove(waiting);
      await expectLost(lease);
    });

    it('that has held it for long', async () => {
      const lease = await mutexes[0]!.acquire();
      const [holding] = await stage.queue(1);
      lease.makeRevocable(() => {}); // it watches its node from now on
      await remove(holding);
      await expectLost(lease);
    });
  });

  /** Each of those clients in turn queues for the lock, and stays inside until `leave`. */
  async function visitInTurn(clients: readonly number[], leave: () => Promise<unknown>) {
    const section = new CriticalSection();
    const visits = [];
    for (const n of clients) {
      visits.push(
        mutexes[n]!.using(async () => {
          section.enter(String(n));
          await leave();
          section.leave();
        }),
      );
      await stage.queue(n + 1);
    }
    return { section, visits };
  }

  it.each([
    ['the first', 1, ['0', '2', '1']],
    ['a later', 2, ['0', '1', '2']],
  ])('lets %s waiter queue again at the end', async (_, victim, order) => {
    const gate = new Deferred();
    const { section, visits } = await visitInTurn([0, 1, 2], () => gate.promise);
    const before = await stage.queue(3);
    await remove(before[victim]);
    const after = await eventually('queued again', async () => {
      const nodes = await stage.queue(3);
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
    const holder = await mutexes[0]!.acquire();
    const { section, visits } = await visitInTurn([1, 2], () => stage.other.connection.sync('/'));
    const [holding, first] = await stage.queue(3);
    await Promise.all([remove(first), remove(holding)]);
    await Promise.all(visits);
    expect(section.visitors).toEqual(['2', '1']);
    expect(section.most).toBe(1);
    await holder.release();
  });
});
