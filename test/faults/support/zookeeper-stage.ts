import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { eventually } from '../../support/time.js';
import { FaultProxy } from '../../support/zookeeper-proxy.js';
import { type ZooKeeperServerOptions, ZooKeeperServer } from '../../support/zookeeper-server.js';
import { TestClient, type TestClientOptions } from './test-client.js';

/** A ZooKeeper server behind a proxy, which all tests share, and what each of them has for itself: a key, clients. */
export class ZooKeeperStage {
  server!: ZooKeeperServer;
  proxy!: FaultProxy;
  /** A client of the server that no accident strikes unless it strikes the server. */
  other!: TestClient;
  key = '';
  readonly clients: TestClient[] = [];

  /** The directory of the lock of this test. */
  get directory(): string {
    return `/locks/${this.key}`;
  }

  /** A client of those servers, connected, which is closed after the test. */
  async connect(connectString: string, options?: TestClientOptions): Promise<TestClient> {
    const client = await TestClient.connect(connectString, options);
    this.clients.push(client);
    return client;
  }

  /** One that goes straight to the server. */
  near(options?: TestClientOptions): Promise<TestClient> {
    return this.connect(this.server.connectString, options);
  }

  /** One that goes through the proxy. */
  far(options?: TestClientOptions): Promise<TestClient> {
    return this.connect(this.proxy.connectString, options);
  }

  /** The names in the directory of the lock, once there are so many, in the order of their numbers. */
  queue(length: number): Promise<string[]> {
    return this.other.queue(this.directory, length);
  }

  async closeClients(): Promise<void> {
    await Promise.all(this.clients.splice(0).map(({ locks }) => locks.close()));
  }
}

/** Starts the server for the tests of the surrounding `describe` or file. */
export function useZooKeeperStage(options?: ZooKeeperServerOptions): ZooKeeperStage {
  const stage = new ZooKeeperStage();
  beforeAll(async () => {
    stage.server = await ZooKeeperServer.start(options);
    stage.proxy = await FaultProxy.start(stage.server);
    stage.other = await TestClient.connect(stage.server.connectString, { sessionTimeout: 20_000 });
  }, 60_000);
  afterAll(async () => {
    await stage.other.locks.close();
    stage.proxy.stop();
    await stage.server.stop();
  });
  beforeEach(async () => {
    stage.key = randomUUID();
    await stage.proxy.accept(); // a test may have left it refusing
    await eventually('the other client is there', () => stage.other.connection.isConnected);
  });
  afterEach(async () => {
    stage.server.thaw();
    if (!stage.server.running) await stage.server.restart();
    stage.proxy.fullSpeed();
    stage.proxy.release();
    stage.proxy.cut(); // first: the driver blocks in close() until it is answered, and the proxy lives on this event loop
    await stage.closeClients();
  });
  return stage;
}
