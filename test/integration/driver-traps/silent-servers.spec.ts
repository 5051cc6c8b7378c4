import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { CreateMode } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { eventually } from '../../support/eventually.js';
import { FaultProxy } from '../../support/fault-proxy.js';
import { OpCode } from '../../support/op-code.js';
import { toldAt } from '../../support/told-at.js';
import { ZooKeeperServer } from '../../support/zookeeper-server.js';
import { TestClient } from '../support/test-client.js';

const SESSION_TIMEOUT = 6_000;

describe('The connection to a server', () => {
  let server: ZooKeeperServer;
  let proxy: FaultProxy;
  let client: TestClient;
  let other: TestClient;

  beforeAll(async () => {
    server = await ZooKeeperServer.start();
    proxy = await FaultProxy.start(server);
    other = await TestClient.connect(server.connectString);
  });
  afterAll(async () => {
    await other.locks.close();
    proxy.stop();
    await server.stop();
  });

  beforeEach(async () => {
    client = await TestClient.connect(proxy.connectString, { sessionTimeout: SESSION_TIMEOUT });
  });
  afterEach(async () => {
    proxy.release();
    proxy.cut(); // first: the driver blocks in close() until it is answered, and the proxy lives on this event loop
    await client.locks.close();
    await proxy.accept();
  });

  it('that falls silent is given up within half the session timeout, with all that is unanswered', async () => {
    const beats = proxy.requestCount(OpCode.sync);
    await eventually('a heartbeat', () => proxy.requestCount(OpCode.sync) > beats);
    await client.connection.sync('/');
    proxy.hold();
    const start = performance.now();
    const failed = expect(client.connection.getChildren('/')).rejects.toMatchObject({
      code: 'CONNECTIONLOSS',
      maybeDone: true,
    });
    await client.reached('SUSPENDED');
    await failed;
    expect(performance.now() - start).toBeLessThan(0.55 * SESSION_TIMEOUT);
    proxy.release();
    await client.reached('RECONNECTED');
    expect(client.states).toEqual(['SUSPENDED', 'RECONNECTED']);
  });

  it('that falls silent is given up within half the session timeout by a client that asks nothing', async () => {
    const beats = proxy.requestCount(OpCode.sync);
    await eventually('a heartbeat', () => proxy.requestCount(OpCode.sync) > beats);
    await client.connection.sync('/');
    proxy.hold();
    const start = performance.now();
    await client.reached('SUSPENDED');
    expect(performance.now() - start).toBeLessThan(0.55 * SESSION_TIMEOUT);
  });

  it('that is out of reach is lost before the server can expire the session', async () => {
    const { id } = client.connection.session!;
    await client.connection.sync('/');
    const lostAt = toldAt((told) =>
      client.connection.onStateChange((state) => state === 'LOST' && told()),
    );
    proxy.stop();
    await eventually('the server expires it', async () => !(await server.hasSession(id)), {
      within: 20_000,
    });
    const expiredAt = Date.now(); // or a little before
    expect(await lostAt).toBeLessThan(expiredAt);
    expect(client.states).toEqual(['SUSPENDED', 'LOST']);
    await proxy.accept();
    await client.reached('RECONNECTED');
    expect(client.connection.session!.id).not.toBe(id);
  });

  it('that was abandoned for its silence, and speaks again too late, does not keep the lost session alive', async () => {
    const lease = await client.locks.mutex('abandoned').acquire();
    const { id } = client.connection.session!;
    client.connection.onStateChange((state) => state === 'SUSPENDED' && proxy.refuse());
    proxy.holdReplies();
    await client.reached('SUSPENDED');
    proxy.release(); // the old connection works again, and the driver sends its pings on it; no other comes up
    expect(proxy.open).toBe(1);
    await eventually('lost', () => lease.signal.aborted);
    await other.queue('/locks/abandoned', 0);
    expect(await server.hasSession(id)).toBe(false);
  });

  it('delivers a list of 1,000 waiters in small segments, and keeps the session', async () => {
    const { session } = client.connection;
    await other.locks.mutex('popular').acquire();
    const node = () => `/locks/popular/_c_${randomUUID()}-lock-`;
    const { connection } = other;
    const waiters = Array.from({ length: 999 }, () =>
      connection.create(node(), Buffer.alloc(0), CreateMode.EPHEMERAL_SEQUENTIAL),
    );
    await Promise.all(waiters);
    proxy.slowReplies(1_400, 1);
    expect(await client.connection.getChildren('/locks/popular')).toHaveLength(1_000);
    expect(await client.locks.mutex('popular').tryAcquire()).toBeUndefined();
    proxy.fullSpeed();
    expect(client.connection.session).toBe(session);
    expect([session!.isAlive, client.states]).toEqual([true, []]);
  });
});
