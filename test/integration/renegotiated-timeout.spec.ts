import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FaultProxy } from '../support/fault-proxy.js';
import { freePorts } from '../support/free-ports.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { TestClient } from './support/test-client.js';

const LONG = 20_000;
const SHORT = 2_000;

describe('After a restart with a smaller session timeout', () => {
  let server: ZooKeeperServer;
  let proxy: FaultProxy;
  let near: TestClient;
  let far: TestClient;
  let options: { tickTime: number; maxSessionTimeout: number };

  beforeEach(async () => {
    options = { tickTime: 500, maxSessionTimeout: LONG };
    const [port] = await freePorts(1, '127.0.0.1');
    server = new ZooKeeperServer(port!, options);
    await server.restart();
    proxy = await FaultProxy.start(server);
    near = await TestClient.connect(proxy.connectString, { sessionTimeout: LONG });
    far = await TestClient.connect(server.connectString, { sessionTimeout: LONG });
  }, 60_000);
  afterEach(async () => {
    proxy.stop();
    await Promise.all([near, far].map(({ locks }) => locks.close()));
    await server.stop();
  });

  it('a lease is over by that one when another one is granted', async () => {
    const lease = await near.locks.mutex('door').acquire();
    const { signal } = lease;
    options.maxSessionTimeout = SHORT; // an operator's rolling change
    await server.restart();
    await Promise.all([near.reached('RECONNECTED'), far.reached('RECONNECTED')]);
    expect([near.connection.session!.timeout, lease.isHeld]).toEqual([SHORT, true]);
    const waiting = far.locks.mutex('door').acquire();
    await far.queue('/locks/door', 2);
    proxy.hold(); // a network that swallows packets
    const next = await waiting;
    expect([signal.aborted, lease.isHeld, next.isHeld]).toEqual([true, false, true]);
  }, 60_000);
});
