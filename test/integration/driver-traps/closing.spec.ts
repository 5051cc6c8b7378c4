import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { CreateMode } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { eventually } from '../../support/eventually.js';
import { ZooKeeperServer } from '../../support/zookeeper-server.js';
import { TestClient } from '../support/test-client.js';

const EMPTY = Buffer.alloc(0);

describe('Closing a connection', () => {
  let server: ZooKeeperServer;
  let client: TestClient;
  let other: TestClient;

  beforeAll(async () => {
    server = await ZooKeeperServer.start();
    other = await TestClient.connect(server.connectString);
    await other.connection.create('/closing', EMPTY, CreateMode.PERSISTENT);
  });
  afterAll(async () => {
    await other.locks.close();
    await server.stop();
  });

  beforeEach(async () => {
    client = await TestClient.connect(server.connectString, { sessionTimeout: 60_000 });
  });
  afterEach(async () => {
    server.thaw();
    await client.locks.close();
  });

  it('ends the session though answers are still to come', async () => {
    const { connection } = client;
    await connection.create('/closing/ephemeral', EMPTY, CreateMode.EPHEMERAL);
    const outcomes = Array.from({ length: 1_000 }, () =>
      connection.getChildren('/').catch((error: unknown) => error),
    );
    const start = performance.now();
    while (performance.now() - start < 50); // some of the answers lie in the socket
    server.freeze(); // and the server is slow to read what comes next
    void connection.close();
    setImmediate(() => server.thaw());
    for (const outcome of await Promise.all(outcomes))
      expect(outcome).toMatchObject({ code: 'CONNECTIONLOSS', maybeDone: true });
    await other.queue('/closing', 0); // long before the session could expire
  });

  it('has left the server when it resolves, so that the process may end', async () => {
    const session = `0x${client.connection.session!.id}`;
    await client.locks.mutex('any').acquire();
    expect(await server.fourLetterWord('cons')).toContain(session);
    await client.locks.close();
    await other.queue('/locks/any', 0);
    await eventually('no connection is left', async () => {
      const connections = await server.fourLetterWord('cons');
      return connections !== '' && !connections.includes(session);
    });
  });

  it('takes no time when all is well', async () => {
    await client.locks.mutex('any').acquire();
    const start = performance.now();
    await client.locks.close();
    expect(performance.now() - start).toBeLessThan(1_000);
    await other.queue('/locks/any', 0);
  });

  it('comes to an end when the server hangs', async () => {
    const lease = await client.locks.mutex('any').acquire();
    const start = performance.now();
    server.freeze();
    await client.locks.close(500);
    expect(performance.now() - start).toBeLessThan(5_000);
    expect([lease.isHeld, client.connection.state]).toEqual([false, 'CLOSED']);
  });
});
