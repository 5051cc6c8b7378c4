import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LockConnectionError } from '../../../lib/core/errors/index.js';
import { LockEventEmitter } from '../../../lib/core/internal/lock-event-emitter.js';
import { EmbeddedServer } from '../../../lib/embedded/embedded-server.js';
import { embeddedServers, EmbeddedTransport } from '../../../lib/embedded/embedded-transport.js';
import { RetryForever } from '../../../lib/zookeeper/connection/retry-policies.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import { ZooKeeperLockClient } from '../../../lib/zookeeper/zookeeper-lock-client.js';
import { FaultyTransport } from '../../support/faulty-transport.js';
import { VirtualClock } from '../../support/virtual-clock.js';

const CONNECT_TIMEOUT = 5_000;

describe('While no server can be reached', () => {
  let clock: VirtualClock;
  let network: FaultyTransport;
  let connection: SessionConnection;
  let locks: ZooKeeperLockClient;

  beforeEach(async () => {
    clock = new VirtualClock();
    const server = new EmbeddedServer({ clock });
    const embedded = new EmbeddedTransport(server, (flush) => clock.setTimer(flush, 0));
    network = new FaultyTransport(embedded, clock);
    connection = new SessionConnection({
      transport: network,
      servers: embeddedServers,
      sessionTimeout: Infinity,
      clock,
    });
    locks = new ZooKeeperLockClient({
      name: 'default',
      connection,
      events: new LockEventEmitter(),
      clock,
      basePath: '/locks',
      connectTimeout: CONNECT_TIMEOUT,
      wait: 'forever',
      retryPolicy: new RetryForever(50),
    });
    connection.start();
    await clock.runUntil(() => connection.isConnected);
  });
  afterEach(() => run(locks.close()));

  const run = <T>(work: Promise<T>) => clock.runUntil(work);
  const expectNoAnswer = async (requests: Promise<unknown>[]) => {
    const begun = clock.now();
    await run(
      Promise.all(
        requests.map((request) => expect(request).rejects.toBeInstanceOf(LockConnectionError)),
      ),
    );
    expect(clock.now()).toBe(begun + CONNECT_TIMEOUT);
  };

  async function away(): Promise<void> {
    network.isRefusing = true;
    network.cut();
    await clock.runUntil(() => !connection.isConnected);
  }

  async function back(): Promise<void> {
    network.isRefusing = false;
    await clock.runUntil(() => connection.isConnected);
  }

  it('a counter rejects after the connectTimeout, and has counted nothing', async () => {
    const counter = locks.atomicLong('hits');
    await run(counter.forceSet(1n));
    await away();
    await expectNoAnswer([
      counter.get(),
      counter.increment(),
      counter.compareAndSet(1n, 2n),
      counter.initialize(2n),
      counter.forceSet(2n),
    ]);
    await back();
    expect(await run(counter.get())).toBe(1n);
  });

  it('a shared value rejects after the connectTimeout, and is what it was', async () => {
    const value = locks.sharedValue('mode', Buffer.from('a'));
    const other = locks.sharedValue('other', Buffer.from('a'));
    await run(value.start());
    await away();
    const bytes = Buffer.from('b');
    await expectNoAnswer([other.start(), other.trySetValue(bytes), value.setValue(bytes)]);
    await expect(run(value.trySetValue(bytes))).rejects.toThrow(/CONNECTIONLOSS/);
    expect(value.value.toString()).toBe('a');
    await back();
    expect(await run(value.trySetValue(bytes))).toBe(true);
  });
});
