import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { LockLostError } from '../../../lib/core/errors/index.js';
import type { Lease } from '../../../lib/core/lease.js';
import { FaultProxy } from '../../support/fault-proxy.js';
import { ZooKeeperServer } from '../../support/zookeeper-server.js';
import { TestClient } from '../support/test-client.js';

describe('A mutex, when its server', () => {
  let server: ZooKeeperServer;
  let proxy: FaultProxy;
  let holder: TestClient;
  let other: TestClient;
  let key: string;
  let directory: string;

  /** The holder goes through the proxy, the other one straight to the server. */
  async function start(sessionTimeout: number): Promise<void> {
    [holder, other] = await Promise.all([
      TestClient.connect(proxy.connectString, { sessionTimeout }),
      TestClient.connect(server.connectString, { sessionTimeout }),
    ]);
  }

  /** `lease` is held, and the other client queues behind it. */
  async function contended(): Promise<{ lease: Lease; queued: Promise<Lease> }> {
    const lease = await holder.locks.mutex(key).acquire();
    const queued = other.locks.mutex(key).acquire();
    await other.queue(directory, 2);
    return { lease, queued };
  }

  beforeAll(async () => {
    server = await ZooKeeperServer.start();
    proxy = await FaultProxy.start(server);
  });
  afterAll(async () => {
    proxy.stop();
    await server.stop();
  });

  beforeEach(() => {
    key = randomUUID();
    directory = `/locks/${key}`;
  });
  afterEach(async () => {
    proxy.cut(); // first: the driver blocks in close() until it is answered, and the proxy lives on this event loop
    await Promise.all([holder.locks.close(), other.locks.close()]);
  });

  it('freezes for less than the session timeout, stays held, and no loss is reported', async () => {
    await start(6_000);
    const { lease, queued } = await contended();
    const { session } = holder.connection;
    server.freeze();
    await Promise.all([holder.reached('SUSPENDED'), other.reached('SUSPENDED')]);
    expect(lease.isHeld).toBe(true);
    server.thaw();
    await Promise.all([holder.reached('RECONNECTED'), other.reached('RECONNECTED')]);

    expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);
    expect(holder.connection.session).toBe(session);
    expect(await other.queue(directory, 2)).toHaveLength(2);
    await lease.release();
    await (await queued).release();
    expect([holder.states, other.states]).toEqual([
      ['SUSPENDED', 'RECONNECTED'],
      ['SUSPENDED', 'RECONNECTED'],
    ]);
  });

  /** When the signal of the lease aborts, and when the next in the queue is granted the lock. */
  function lossAndGrant(lease: Lease, queued: Promise<Lease>): Promise<number>[] {
    const lost = new Promise<number>((resolve) =>
      lease.signal.addEventListener('abort', () => resolve(performance.now())),
    );
    return [lost, queued.then(() => performance.now())];
  }

  async function expectHandedOver(lease: Lease, queued: Promise<Lease>): Promise<void> {
    expect(lease.signal.reason).toBeInstanceOf(LockLostError);
    const next = await queued;
    await holder.reached('RECONNECTED');
    await lease.release();
    expect([lease.isHeld, next.isHeld]).toEqual([false, true]);
    await next.release();
    await other.queue(directory, 0);
  }

  it('freezes for longer, is given up before another client is granted it', async () => {
    await start(3_000);
    const { lease, queued } = await contended();
    const [lost, granted] = lossAndGrant(lease, queued);
    server.freeze();
    const lostAt = await lost;
    server.thaw();
    expect(lostAt).toBeLessThan(await granted!);
    await expectHandedOver(lease, queued);
  });

  it('expires the session of a holder behind a broken network, is given up before another client is granted it', async () => {
    await start(3_000);
    const { lease, queued } = await contended();
    const [lost, granted] = lossAndGrant(lease, queued);
    proxy.hold();
    const grantedAt = await granted!;
    expect(lease.signal.aborted).toBe(true);
    expect(await lost).toBeLessThan(grantedAt);
    proxy.release();
    await expectHandedOver(lease, queued);
    expect(other.states).toEqual([]);
  });

  it('is killed and started again, stays held, and keeps its queue', async () => {
    await start(20_000);
    const { lease, queued } = await contended();
    const before = await other.queue(directory, 2);
    await server.kill();
    await Promise.all([holder.reached('SUSPENDED'), other.reached('SUSPENDED')]);
    await server.restart();
    await Promise.all([holder.reached('RECONNECTED'), other.reached('RECONNECTED')]);

    expect(await other.queue(directory, 2)).toEqual(before);
    expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);
    await lease.release();
    const next = await queued;
    expect(await other.queue(directory, 1)).toEqual([before[1]]);
    await next.release();
    expect([...holder.states, ...other.states]).not.toContain('LOST');
  });
});
