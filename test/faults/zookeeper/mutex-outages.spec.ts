import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  LockAbortedError,
  LockLostError,
  LockTimeoutError,
} from '../../../lib/core/errors/index.js';
import type { Lease } from '../../../lib/core/lease.js';
import { isOperation, type OpCode } from '../../support/zookeeper-proxy.js';
import type { TestClient } from '../support/test-client.js';
import { useZooKeeperStage } from '../support/zookeeper-stage.js';

const LONG = 20_000;
const options = { containerCheckIntervalMs: 600_000, maxSessionTimeout: LONG }; // it keeps empty directories
const stage = useZooKeeperStage(options);

describe('A mutex, with its connection cut', () => {
  let client: TestClient;
  let other: TestClient;
  let key: string;

  /** Cuts the connection of `client` at its next such request to the directory of the lock. */
  function cut(when: 'before' | 'after', operation: keyof typeof OpCode): Promise<unknown> {
    const { proxy, directory } = stage;
    const trap = when === 'before' ? proxy.cutBefore : proxy.cutAfter;
    return trap.call(
      proxy,
      ({ opcode, path }) => isOperation(opcode, operation) && path.startsWith(directory),
    );
  }

  beforeEach(async () => {
    ({ key, other } = stage);
    client = await stage.far();
    await other.locks.mutex(key).using(() => {}); // its directory is there
  });

  const cuts = [
    ['before', 'create'],
    ['after', 'create'],
    ['before', 'getChildren'],
    ['after', 'getChildren'],
  ] as const;

  it.each(cuts)('%s its %s, is acquired with one node all the same', async (when, operation) => {
    const isCut = cut(when, operation);
    const lease = await client.locks.mutex(key).acquire();
    await isCut;
    const { id } = client.connection.session!;
    const [node] = await stage.queue(1);
    expect(await other.connection.exists(`${stage.directory}/${node}`)).toMatchObject({
      ephemeralOwner: id,
    });
    expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);
    await lease.release();
    await stage.queue(0);
    expect(client.states).toEqual(['SUSPENDED', 'RECONNECTED']);
  });

  it.each([...cuts, ['before', 'getData'], ['after', 'getData']] as const)(
    '%s its %s, is queued for with one node all the same',
    async (when, operation) => {
      const lease = await other.locks.mutex(key).acquire();
      const isCut = cut(when, operation);
      const queued = client.locks.mutex(key).acquire();
      await isCut;
      await client.reached('RECONNECTED');
      const [holding] = await stage.queue(2);
      expect(await other.locks.mutex(key).participants()).toHaveLength(2);
      await lease.release();
      const next = await queued;
      expect(await stage.queue(1)).not.toContain(holding);
      await next.release();
      await stage.queue(0);
    },
  );

  it.each(cuts)('%s its %s in a tryAcquire, keeps no node', async (when, operation) => {
    await using _held = await other.locks.mutex(key).acquire();
    const isCut = cut(when, operation);
    expect(await client.locks.mutex(key).tryAcquire()).toBeUndefined();
    await isCut;
    await stage.queue(1);
  });

  it.each(['before', 'after'] as const)('%s its delete, is released', async (when) => {
    const lease = await client.locks.mutex(key).acquire();
    const isCut = cut(when, 'delete');
    await lease.release();
    await isCut;
    await other.locks.mutex(key).using(() => {});
    await stage.queue(0);
  });

  describe('and stays down until the acquire was given up', () => {
    it.each([
      ['by its deadline', LockTimeoutError, () => ({ wait: 300 })],
      ['by its signal', LockAbortedError, () => ({ signal: AbortSignal.timeout(300) })],
    ])('%s, keeps no node', async (_, error, options) => {
      const isCut = cut('after', 'create').then(() => stage.proxy.refuse());
      await expect(client.locks.mutex(key).acquire(options())).rejects.toThrow(error);
      await isCut;
      await stage.queue(1);
      await stage.proxy.accept();
      await stage.queue(0);
    });
  });

  it('not at all, but silent until the acquire was given up, keeps no node', async () => {
    stage.proxy.hold();
    await expect(client.locks.mutex(key).acquire({ wait: 200 })).rejects.toThrow(LockTimeoutError);
    const created = new Promise<unknown>((resolve) => {
      void other.connection.getChildren(stage.directory, resolve);
    });
    await stage.queue(0);
    stage.proxy.release();
    await created;
    await stage.queue(0);
  });
});

describe('A mutex, when its server', () => {
  let holder: TestClient;
  let waiter: TestClient;

  /** The holder goes through the proxy, the one that queues behind it straight to the server. */
  async function contended(sessionTimeout: number) {
    [holder, waiter] = await Promise.all([
      stage.far({ sessionTimeout }),
      stage.near({ sessionTimeout }),
    ]);
    const lease = await holder.locks.mutex(stage.key).acquire();
    const queued = waiter.locks.mutex(stage.key).acquire();
    const nodes = await stage.queue(2);
    return { lease, queued, nodes };
  }

  const bothReached = (state: 'SUSPENDED' | 'RECONNECTED') =>
    Promise.all([holder, waiter].map((client) => client.reached(state)));

  it('freezes for less than the session timeout, stays held, and no loss is reported', async () => {
    const { lease, queued } = await contended(5_000);
    const { session } = holder.connection;
    stage.server.freeze();
    await bothReached('SUSPENDED');
    expect(lease.isHeld).toBe(true);
    stage.server.thaw();
    await bothReached('RECONNECTED');

    expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);
    expect(holder.connection.session).toBe(session);
    await stage.queue(2);
    await lease.release();
    await (await queued).release();
    const states = ['SUSPENDED', 'RECONNECTED'];
    expect([holder.states, waiter.states]).toEqual([states, states]);
  });

  /** When the signal of the lease aborts, and when the next in the queue is granted the lock. */
  function lossAndGrant(lease: Lease, queued: Promise<Lease>) {
    const lost = new Promise<number>((resolve) =>
      lease.signal.addEventListener('abort', () => resolve(performance.now())),
    );
    return { lost, granted: queued.then(() => performance.now()) };
  }

  async function expectHandedOver(lease: Lease, queued: Promise<Lease>): Promise<void> {
    expect(lease.signal.reason).toBeInstanceOf(LockLostError);
    const next = await queued;
    await holder.reached('RECONNECTED');
    await lease.release();
    expect([lease.isHeld, next.isHeld]).toEqual([false, true]);
    await next.release();
    await stage.queue(0);
  }

  it('freezes for longer, is given up before another client is granted it', async () => {
    const { lease, queued } = await contended(3_000);
    const { lost, granted } = lossAndGrant(lease, queued);
    stage.server.freeze();
    await lost;
    stage.server.thaw();
    expect(await lost).toBeLessThan(await granted);
    await expectHandedOver(lease, queued);
  });

  it('expires the session of a holder behind a broken network, is given up before another client is granted it', async () => {
    const { lease, queued } = await contended(3_000);
    const { lost, granted } = lossAndGrant(lease, queued);
    stage.proxy.hold();
    const grantedAt = await granted;
    expect(lease.signal.aborted).toBe(true);
    expect(await lost).toBeLessThan(grantedAt);
    stage.proxy.release();
    await expectHandedOver(lease, queued);
    expect(waiter.states).toEqual([]);
  });

  it('is killed and started again, stays held, and keeps its queue', async () => {
    const { lease, queued, nodes } = await contended(LONG);
    await stage.server.kill();
    await bothReached('SUSPENDED');
    await stage.server.restart();
    await bothReached('RECONNECTED');

    expect(await stage.queue(2)).toEqual(nodes);
    expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);
    await lease.release();
    const next = await queued;
    expect(await stage.queue(1)).toEqual([nodes[1]]);
    await next.release();
    expect([...holder.states, ...waiter.states]).not.toContain('LOST');
  });
});

describe('After a restart with a smaller session timeout', () => {
  const SHORT = 2_000;

  it('a lease is over by that one when another one is granted', async () => {
    const { key, server, proxy } = stage;
    const holder = await stage.far({ sessionTimeout: LONG });
    const waiter = await stage.near({ sessionTimeout: LONG });
    const lease = await holder.locks.mutex(key).acquire();
    const { signal } = lease;
    options.maxSessionTimeout = SHORT; // an operator's rolling change
    await server.restart();
    await Promise.all([holder, waiter].map((client) => client.reached('RECONNECTED')));
    expect([holder.connection.session!.timeout, lease.isHeld]).toEqual([SHORT, true]);
    const waiting = waiter.locks.mutex(key).acquire();
    await waiter.queue(stage.directory, 2);
    proxy.hold(); // a network that swallows packets
    const next = await waiting;
    expect([signal.aborted, lease.isHeld, next.isHeld]).toEqual([true, false, true]);
  }, 60_000);
});
