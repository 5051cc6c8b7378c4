import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LockConnectionError } from '../../../lib/core/errors/index.js';
import { LockEventEmitter } from '../../../lib/core/internal/lock-event-emitter.js';
import { systemClock } from '../../../lib/core/clock.js';
import { EmbeddedServer } from '../../../lib/embedded/embedded-server.js';
import { embeddedServers, EmbeddedTransport } from '../../../lib/embedded/embedded-transport.js';
import { RetryForever } from '../../../lib/zookeeper/connection/retry-policies.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import { ZooKeeperLockClient } from '../../../lib/zookeeper/zookeeper-lock-client.js';

describe('A directory with a counter that comes to its end', () => {
  let server: EmbeddedServer;
  let client: ZooKeeperLockClient;

  beforeEach(async () => {
    server = new EmbeddedServer();
    const connection = new SessionConnection({
      transport: new EmbeddedTransport(server),
      servers: embeddedServers,
      sessionTimeout: Infinity,
      clock: systemClock,
    });
    client = new ZooKeeperLockClient({
      name: 'default',
      connection,
      events: new LockEventEmitter(),
      clock: systemClock,
      basePath: '/locks',
      connectTimeout: 1_000,
      wait: 'forever',
      retryPolicy: new RetryForever(50),
    });
    await client.connect();
  });

  afterEach(() => client.close());

  it('serves the last number in order, then refuses, and keeps the holder alone', async () => {
    const mutex = client.mutex('busy');
    await (await mutex.acquire()).release();
    server.tree.get('/locks/busy')!.nextSequence = 2 ** 31 - 2;

    const holder = await mutex.acquire();
    for (let i = 0; i < 10; i++) {
      const refusal = mutex.acquire();
      await expect(refusal).rejects.toThrow(LockConnectionError);
      await expect(refusal).rejects.toThrow(
        '/locks/busy has used all of its 2^31 sequence numbers',
      );
      await expect(mutex.tryAcquire()).rejects.toThrow(LockConnectionError);
    }

    expect(holder.isHeld).toBe(true);
    expect(await mutex.participants()).toHaveLength(1);
    await holder.release();
    await expect(mutex.acquire()).rejects.toThrow(LockConnectionError);
    expect(await mutex.participants()).toEqual([]);
  });
});
