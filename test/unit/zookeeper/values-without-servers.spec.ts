import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LockConnectionError } from '../../../lib/core/errors/index.js';
import { LockEventEmitter } from '../../../lib/core/lock-event-emitter.js';
import { systemClock } from '../../../lib/core/system-clock.js';
import { RetryForever } from '../../../lib/zookeeper/connection/retry/retry-forever.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import { ZooKeeperLockClient } from '../../../lib/zookeeper/zookeeper-lock-client.js';
import { EmbeddedBackend } from '../../contract/embedded-backend.js';
import { eventually } from '../../support/eventually.js';
import { FaultyTransport } from '../../support/faulty-transport.js';

describe('While no server can be reached', () => {
  let network: FaultyTransport;
  let connection: SessionConnection;
  let locks: ZooKeeperLockClient;

  beforeEach(async () => {
    const { transport, servers } = await new EmbeddedBackend().connect();
    const clock = systemClock;
    network = new FaultyTransport(transport, clock);
    connection = new SessionConnection({
      transport: network,
      servers,
      sessionTimeout: 30_000,
      clock,
    });
    locks = new ZooKeeperLockClient({
      name: 'default',
      connection,
      events: new LockEventEmitter(),
      clock,
      basePath: '/locks',
      connectTimeout: 100,
      wait: 'forever',
      retryPolicy: new RetryForever(10),
    });
    connection.start();
    await eventually('it is connected', () => connection.isConnected);
  });
  afterEach(() => locks.close());

  async function away(): Promise<void> {
    network.isRefusing = true;
    network.cut();
    await eventually('it is away', () => !connection.isConnected);
  }

  it('a counter rejects after the connectTimeout, and has counted nothing', async () => {
    const counter = locks.atomicLong('hits');
    await counter.forceSet(1n);
    await away();
    await Promise.all(
      [
        counter.get(),
        counter.increment(),
        counter.compareAndSet(1n, 2n),
        counter.initialize(2n),
        counter.forceSet(2n),
      ].map((refused) => expect(refused).rejects.toBeInstanceOf(LockConnectionError)),
    );
    network.isRefusing = false;
    await eventually('it is back', () => connection.isConnected);
    expect(await counter.get()).toBe(1n);
  });

  it('a shared value rejects after the connectTimeout, and is what it was', async () => {
    const value = locks.sharedValue('mode', Buffer.from('a'));
    const other = locks.sharedValue('other', Buffer.from('a'));
    await value.start();
    await away();
    const bytes = Buffer.from('b');
    await expect(other.start()).rejects.toBeInstanceOf(LockConnectionError);
    await expect(other.trySetValue(bytes)).rejects.toBeInstanceOf(LockConnectionError);
    await expect(value.setValue(bytes)).rejects.toBeInstanceOf(LockConnectionError);
    await expect(value.trySetValue(bytes)).rejects.toThrow(/CONNECTIONLOSS/);
    expect(value.value.toString()).toBe('a');
    network.isRefusing = false;
    await eventually('it is back', () => connection.isConnected);
    expect(await value.trySetValue(bytes)).toBe(true);
  });
});
