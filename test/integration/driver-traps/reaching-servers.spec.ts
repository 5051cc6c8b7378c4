import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../lib/core/clock.js';
import { NativeTransport } from '../../../lib/zookeeper/connection/native-transport.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import { eventually } from '../../support/eventually.js';
import { FaultProxy } from '../../support/fault-proxy.js';
import { freePorts } from '../../support/free-ports.js';
import { ZooKeeperServer } from '../../support/zookeeper-server.js';
import { TestClient, type TestClientOptions } from '../support/test-client.js';

/** Connecting to the broadcast address fails at once: nothing is sent. */
const NO_ROUTE = '255.255.255.255:2181';

describe('The connection', () => {
  let server: ZooKeeperServer;
  const clients: TestClient[] = [];

  async function connect(connectString: string, options?: TestClientOptions): Promise<TestClient> {
    const client = await TestClient.connect(connectString, options);
    clients.push(client);
    return client;
  }

  beforeAll(async () => {
    server = await ZooKeeperServer.start();
  });
  afterEach(() => Promise.all(clients.splice(0).map(({ locks }) => locks.close())));
  afterAll(() => server.stop());

  describe.each([2, 4])('to %d servers that were all down', (count) => {
    let proxies: FaultProxy[];
    let failures = 0;
    let client: TestClient;

    beforeAll(async () => {
      proxies = await Promise.all(Array.from({ length: count }, () => FaultProxy.start(server)));
    });
    afterAll(() => proxies.forEach((proxy) => proxy.stop()));

    it('finds any one of them that comes up again', async () => {
      client = await connect(proxies.map((proxy) => proxy.connectString).join(), {
        onAttemptFailed: () => (failures += 1),
      });
      const { session } = client.connection;
      for (const proxy of proxies) {
        proxies.forEach((each) => each.stop());
        failures = 0;
        await eventually('each of them was tried twice', () => failures >= 2 * count);
        const accepted = proxy.accepted;
        await proxy.accept();
        await eventually('connected', () => client.connection.isConnected, { within: 5_000 });
        expect(proxy.accepted).toBeGreaterThan(accepted);
      }
      expect(client.connection.session).toBe(session);
      proxies.forEach((proxy) => proxy.cut()); // before the close, which would wait for them
    });
  });

  it('does not lose time with a server that there is no way to', async () => {
    const reasons: string[] = [];
    const options = { sessionTimeout: 30_000, onAttemptFailed: (why: string) => reasons.push(why) };
    const start = performance.now();
    await connect([NO_ROUTE, NO_ROUTE, server.connectString].join(), options);
    await connect([server.connectString, NO_ROUTE].join(), options);
    await connect([NO_ROUTE, server.connectString].join(), options);
    expect(performance.now() - start).toBeLessThan(5_000); // how long one hopeless attempt used to take
  });

  it('comes up as soon as a server does that was not there at first', async () => {
    const [port] = await freePorts(1, '127.0.0.1');
    const late = new ZooKeeperServer(port!);
    let failures = 0;
    const connecting = connect(late.connectString, { onAttemptFailed: () => (failures += 1) });
    try {
      await eventually('refused', () => failures > 3);
      await late.restart();
      expect((await connecting).connection.isConnected).toBe(true);
    } finally {
      await (await connecting).locks.close();
      await late.stop();
    }
  });

  it('does not wait for a name service that does not answer', async () => {
    let asked = 0;
    const connection = new SessionConnection({
      transport: await NativeTransport.load(),
      sessionTimeout: 3_000,
      clock: systemClock,
      servers: {
        size: 2,
        next: () => ((asked += 1) === 1 ? new Promise(() => {}) : Promise.resolve(server)),
      },
    });
    connection.start();
    await eventually('connected', () => connection.isConnected, { within: 3_000 });
    void connection.close();
  });
});
