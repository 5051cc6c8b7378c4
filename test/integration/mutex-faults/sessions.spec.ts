import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { LockClientClosedError } from '../../../lib/core/errors/index.js';
import { attachSession } from '../../support/attach-session.js';
import { eventually } from '../../support/eventually.js';
import { expireSession } from '../../support/expire-session.js';
import { FaultProxy } from '../../support/fault-proxy.js';
import { OpCode } from '../../support/op-code.js';
import { ZooKeeperServer } from '../../support/zookeeper-server.js';
import { TestClient } from '../support/test-client.js';

describe('A mutex', () => {
  let server: ZooKeeperServer;
  let proxy: FaultProxy;
  let waiter: TestClient;
  let other: TestClient;
  let key: string;
  let directory: string;

  const ownerOf = async (node: string) =>
    (await other.connection.exists(`${directory}/${node}`))?.ephemeralOwner;

  beforeAll(async () => {
    server = await ZooKeeperServer.start({ containerCheckIntervalMs: 100 });
    proxy = await FaultProxy.start(server);
    other = await TestClient.connect(server.connectString);
  });
  afterAll(async () => {
    await other.locks.close();
    proxy.stop();
    await server.stop();
  });

  beforeEach(async () => {
    key = randomUUID();
    directory = `/locks/${key}`;
    await proxy.accept(); // a test that failed may have left it refusing
    waiter = await TestClient.connect(proxy.connectString, { sessionTimeout: 3_000 });
  });
  afterEach(async () => {
    proxy.cut(); // first: the driver blocks in close() until it is answered, and the proxy lives on this event loop
    await waiter.locks.close();
  });

  it('is queued for again when the session expires meanwhile', async () => {
    const lease = await other.locks.mutex(key).acquire();
    const queued = waiter.locks.mutex(key).acquire();
    const [holding, expired] = await other.queue(directory, 2);
    const old = waiter.connection.session!;

    proxy.refuse();
    await expireSession(server, old);
    await proxy.accept();
    const [first, again] = await eventually('queued again', async () => {
      const nodes = await other.queue(directory, 2);
      return !nodes.includes(expired!) && nodes;
    });
    const session = waiter.connection.session!;
    expect(session.id).not.toBe(old.id);
    expect(first).toBe(holding);
    expect(await ownerOf(again!)).toBe(session.id);

    await lease.release();
    const next = await queued;
    expect(next.isHeld).toBe(true);
    expect(await other.queue(directory, 1)).toEqual([again]);
    await next.release();
  });

  it('is never granted on a node of a session that was given up, though the servers still keep it (CURATOR-604)', async () => {
    const lease = await other.locks.mutex(key).acquire();
    let isGranted = false;
    const queued = waiter.locks.mutex(key).acquire();
    void queued.then(() => (isGranted = true));
    const [, stale] = await other.queue(directory, 2);

    // The waiter is cut off and gives its session up, but the server goes on hearing of that session.
    proxy.refuse();
    const session = await attachSession(server, waiter.connection.session!);
    await waiter.reached('LOST');
    await proxy.accept();
    const [, , fresh] = await other.queue(directory, 3);
    await lease.release();

    expect(await other.queue(directory, 2)).toEqual([stale, fresh]);
    const looks = proxy.requestCount(OpCode.getData, OpCode.getChildren, OpCode.getChildren2);
    await other.connection.setData(`${directory}/${stale}`, Buffer.from('look again'));
    await eventually(
      'the waiter has looked again',
      () => proxy.requestCount(OpCode.getData, OpCode.getChildren, OpCode.getChildren2) > looks,
    );
    expect(await other.locks.mutex(key).tryAcquire()).toBeUndefined();
    expect(isGranted).toBe(false);

    session.close();
    const next = await queued;
    expect(next.isHeld).toBe(true);
    expect(await other.queue(directory, 1)).toEqual([fresh]);
    await next.release();
  });

  it('is acquired again after its directory was collected', async () => {
    const mutex = waiter.locks.mutex(key);
    for (let round = 0; round < 3; round++) {
      await mutex.using(() => {});
      await eventually('collected', async () => !(await other.connection.exists(directory)));
    }
    expect(await mutex.participants()).toEqual([]);
    await using lease = await mutex.acquire();
    expect(lease.isHeld).toBe(true);
  });

  it('rejects all of its 20 waiters when their client is closed, and keeps none of their nodes', async () => {
    const lease = await other.locks.mutex(key).acquire();
    const outcomes = Array.from({ length: 20 }, () =>
      waiter.locks
        .mutex(key)
        .acquire()
        .then(
          () => 'granted',
          (error: unknown) => error,
        ),
    );
    const [holding] = await other.queue(directory, 21);
    await waiter.locks.close();
    expect(await other.children(directory)).toEqual([holding]);
    for (const outcome of await Promise.all(outcomes))
      expect(outcome).toBeInstanceOf(LockClientClosedError);
    expect(lease.isHeld).toBe(true);
    await lease.release();
  });
});
