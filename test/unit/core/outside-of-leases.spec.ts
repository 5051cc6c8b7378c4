import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { currentLease } from '../../../lib/core/internal/lease-scope.js';
import { LockEventEmitter } from '../../../lib/core/internal/lock-event-emitter.js';
import type { LockEvents } from '../../../lib/core/lock-events.js';
import { EmbeddedServer } from '../../../lib/embedded/embedded-server.js';
import { embeddedServers, EmbeddedTransport } from '../../../lib/embedded/embedded-transport.js';
import { RetryForever } from '../../../lib/zookeeper/connection/retry-policies.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import { ZooKeeperLockClient } from '../../../lib/zookeeper/zookeeper-lock-client.js';
import { eventually } from '../../support/eventually.js';
import { systemClock } from '../../../lib/core/clock.js';

/** What a listener does is no work of the holder in the scope of which something happened: it must not enter its locks. */
describe('In the scope of no lease', () => {
  let server: EmbeddedServer;
  let connection: SessionConnection;
  let locks: ZooKeeperLockClient;
  let heard: Map<string, (string | undefined)[]>;

  const note = (what: string) => {
    heard.set(what, [...(heard.get(what) ?? []), currentLease()?.key]);
  };

  beforeEach(() => {
    heard = new Map();
    server = new EmbeddedServer();
    connection = new SessionConnection({
      transport: new EmbeddedTransport(server),
      servers: embeddedServers,
      sessionTimeout: Infinity,
      clock: systemClock,
    });
    locks = new ZooKeeperLockClient({
      name: 'unit',
      connection,
      events: new LockEventEmitter('unit'),
      clock: systemClock,
      basePath: '/locks',
      connectTimeout: 5_000,
      wait: 'forever',
      retryPolicy: new RetryForever(50),
    });
  });
  afterEach(() => locks.close());

  it.each(['contended', 'acquired', 'failed', 'released', 'lost'] as const)(
    'are the listeners of `%s`, and its diagnostics channel',
    async (event: keyof LockEvents) => {
      const channel = `nestjs-interlock:${event}`;
      const onMessage = () => note('channel');
      locks.on(event, () => note('listener'));
      subscribe(channel, onMessage);
      try {
        await locks.connect();
        await locks.mutex('outer').using(async () => {
          const inner = locks.mutex('inner');
          const lease = await inner.acquire();
          const waiting = new AbortController();
          const refused = inner.acquire({ signal: waiting.signal }).catch(() => {});
          await eventually('it waits', async () => (await inner.participants()).length === 2);
          waiting.abort();
          await refused;
          await lease.run(async () => {
            await lease.fencingToken();
            server.remove(lease.paths[0]!);
            await eventually('it is lost', () => !lease.isHeld);
          });
          await lease.release();
          await inner.using(() => {});
        });
      } finally {
        unsubscribe(channel, onMessage);
      }
      expect(heard.get('listener')?.length).toBeGreaterThan(0);
      expect(heard.get('channel')).toEqual(heard.get('listener'));
      expect(heard.get('listener')!.filter((key) => key !== undefined)).toEqual([]);
    },
  );

  it('are the handlers of a signal, wherever the loss is found', async () => {
    await locks.connect();
    const lease = await locks.mutex('inner').acquire();
    lease.signal.addEventListener('abort', () => note('abort'));
    await locks.mutex('outer').using(async () => {
      const session = connection.session!;
      session.end('a test'); // reported in the scope in which it is ended
    });
    expect(heard.get('abort')).toEqual([undefined]);
  });

  it('are connections, and what follows upon them, in whatever scope the client was connected', async () => {
    const other = new ZooKeeperLockClient({
      name: 'other',
      connection: new SessionConnection({
        transport: new EmbeddedTransport(new EmbeddedServer()),
        servers: embeddedServers,
        sessionTimeout: Infinity,
        clock: systemClock,
      }),
      events: new LockEventEmitter(),
      clock: systemClock,
      basePath: '/locks',
      connectTimeout: 5_000,
      wait: 'forever',
      retryPolicy: new RetryForever(50),
    });
    await other.connect();
    locks.on('connection', () => note('connection'));
    await other.mutex('outer').using(async () => {
      await locks.connect();
      server.cut(connection.session!.id);
      await eventually('it is back', () => connection.state === 'RECONNECTED');
    });
    expect(new Set(heard.get('connection'))).toEqual(new Set([undefined]));
    await other.close();
  });
});
