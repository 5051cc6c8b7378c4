import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { TestClient, type TestClientOptions } from '../../faults/support/test-client.js';
import { FaultProxy, isOperation, type OpCode } from '../../support/zookeeper-proxy.js';
import { ZooKeeperServer } from '../../support/zookeeper-server.js';

/** A server with two clients, one of them behind a proxy that breaks its connection. */
class BadNetwork {
  server!: ZooKeeperServer;
  proxy!: FaultProxy;
  /** The client behind the bad network. */
  client!: TestClient;
  /** The client with a good network. */
  other!: TestClient;
  /** Of this test alone. */
  path!: string;

  /** Cuts the connection of `client` at the `countdown`th such request about `path` and what follows it. */
  cut(
    when: 'before' | 'after',
    operation: keyof typeof OpCode,
    below = '',
    countdown = 1,
  ): Promise<unknown> {
    const start = `${this.path}${below}`;
    const trap = when === 'before' ? this.proxy.cutBefore : this.proxy.cutAfter;
    return trap.call(
      this.proxy,
      ({ opcode, path }) =>
        isOperation(opcode, operation) && path.startsWith(start) && --countdown === 0,
    );
  }
}

/** Each test of the `describe` around it has a new client behind the bad network, and a path of its own. */
export function onBadNetwork(options?: TestClientOptions): BadNetwork {
  const network = new BadNetwork();

  beforeAll(async () => {
    const keepsDirectories = { containerCheckIntervalMs: 600_000 };
    network.server = await ZooKeeperServer.start(keepsDirectories);
    network.proxy = await FaultProxy.start(network.server);
    network.other = await TestClient.connect(network.server.connectString);
  }, 60_000);
  afterAll(async () => {
    await network.other.locks.close();
    network.proxy.stop();
    await network.server.stop();
  });

  beforeEach(async () => {
    network.path = `/locks/${randomUUID()}`;
    network.client = await TestClient.connect(network.proxy.connectString, options);
  });
  afterEach(async () => {
    await network.proxy.accept();
    network.proxy.cut(); // first: the driver blocks in close() until it is answered, and the proxy lives on this event loop
    await network.client.locks.close();
  });
  return network;
}
