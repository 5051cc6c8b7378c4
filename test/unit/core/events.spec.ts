import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { systemClock } from '../../../lib/core/clock.js';
import { LockDeadlockError, LockLostError } from '../../../lib/core/errors/index.js';
import type { LeaseHandle } from '../../../lib/core/internal/lease-handle.js';
import { currentLease } from '../../../lib/core/internal/lease-scope.js';
import { LockEventEmitter } from '../../../lib/core/internal/lock-event-emitter.js';
import type { Lease } from '../../../lib/core/lease.js';
import { type LockEvents, lockSubject } from '../../../lib/core/lock-events.js';
import { EmbeddedServer } from '../../../lib/embedded/embedded-server.js';
import { embeddedServers, EmbeddedTransport } from '../../../lib/embedded/embedded-transport.js';
import { RetryForever } from '../../../lib/zookeeper/connection/retry-policies.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import { ZooKeeperLockClient } from '../../../lib/zookeeper/zookeeper-lock-client.js';
import { eventually } from '../../support/time.js';
import { useCleanup } from '../../support/fixtures.js';

const EVENT: LockEvents['contended'] = { recipe: 'mutex', key: 'door' };

describe('Events of a client', () => {
  it('reach every listener of that kind, at once', () => {
    const events = new LockEventEmitter();
    const heard: string[] = [];
    events.on('contended', ({ key }) => heard.push(`first: ${key}`));
    events.on('contended', ({ key }) => heard.push(`second: ${key}`));
    events.on('released', () => heard.push('never'));
    events.emit('contended', EVENT);
    expect(heard).toEqual(['first: door', 'second: door']);
  });

  it('reach a listener as often as it was added', () => {
    const events = new LockEventEmitter();
    let heard = 0;
    const listener = () => void (heard += 1);
    const stop = events.on('contended', listener);
    events.on('contended', listener);
    events.emit('contended', EVENT);
    stop();
    stop();
    events.emit('contended', EVENT);
    expect(heard).toBe(3);
  });

  it('reach the others although one of them throws, which is a warning', () => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    try {
      const events = new LockEventEmitter();
      let heard = 0;
      events.on('contended', () => {
        throw new Error('broken');
      });
      events.on('contended', () => void (heard += 1));
      events.emit('contended', EVENT);
      expect(heard).toBe(1);
      expect(warn).toHaveBeenCalledWith(expect.stringContaining('Error: broken'));
    } finally {
      warn.mockRestore();
    }
  });

  it.each<[string, () => unknown, string]>([
    ['rejects', () => Promise.reject(new Error('broken')), 'Error: broken'],
    ['throws what has no text', () => fail(Object.create(null)), 'null prototype'],
    ['rejects with what has no text', async () => fail(Object.create(null)), 'null prototype'],
  ])('reach the others although one of them %s, which is a warning', async (_, work, text) => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    try {
      const events = new LockEventEmitter();
      let heard = 0;
      events.on('contended', work);
      events.on('contended', () => void (heard += 1));
      events.emit('contended', EVENT);
      expect(heard).toBe(1);
      await nextTurn();
      expect(warn).toHaveBeenCalledTimes(1);
      expect(warn).toHaveBeenCalledWith(expect.stringContaining(text));
    } finally {
      warn.mockRestore();
    }
  });

  it('reach a listener once that is added anew by itself', () => {
    const events = new LockEventEmitter();
    let heard = 0;
    let stop = () => {};
    const listener = () => {
      stop();
      if (++heard < 10) stop = events.on('contended', listener);
    };
    stop = events.on('contended', listener);
    events.emit('contended', EVENT);
    expect(heard).toBe(1);
    events.emit('contended', EVENT);
    expect(heard).toBe(2);
  });
});

function fail(error: unknown): never {
  throw error;
}

const DOOR = { recipe: 'mutex', key: 'door', method: 'House.enter' } as const;

/** One of each kind. */
const EVENTS: LockEvents = {
  contended: DOOR,
  acquired: { ...DOOR, waitedMs: 3 },
  released: { ...DOOR, heldMs: 7 },
  endangered: { ...DOOR, confirmedAgoMs: 15_000, safeForMs: 14_000 },
  lost: { ...DOOR, heldMs: 5, error: new LockLostError('the session is over') },
  deadlock: { ...DOOR, error: new LockDeadlockError([]) },
  failed: { ...DOOR, waitedMs: 2, error: new Error('no') },
  connection: { state: 'SUSPENDED', reason: 'no answer', server: 2 },
};

const closing = useCleanup();

/** Subscribes for the length of one test. */
function listenTo(event: keyof LockEvents): unknown[] {
  const heard: unknown[] = [];
  const listener = (message: unknown) => void heard.push(message);
  subscribe(`nestjs-interlock:${event}`, listener);
  closing(listener, () => void unsubscribe(`nestjs-interlock:${event}`, listener));
  return heard;
}

describe('The diagnostics channels of the process', () => {
  it.each(Object.entries(EVENTS) as [keyof LockEvents, LockEvents[keyof LockEvents]][])(
    'report for "%s" what the client emits, and the name of the client',
    (event, value) => {
      const heard = listenTo(event);
      new LockEventEmitter('orders').emit(event, value);
      new LockEventEmitter('stock').emit(event, value);
      expect(heard).toEqual([
        { client: 'orders', ...value },
        { client: 'stock', ...value },
      ]);
    },
  );

  it('report nothing of the parts of a client', () => {
    const heard = listenTo('acquired');
    new LockEventEmitter().emit('acquired', EVENTS.acquired);
    expect(heard).toEqual([]);
  });

  it('make no message where there is no subscriber', () => {
    listenTo('released');
    expect(channel('nestjs-interlock:acquired').hasSubscribers).toBe(false);
    const unread = {
      ...EVENTS.acquired,
      get key(): string {
        throw new Error('was read');
      },
    };
    expect(() => new LockEventEmitter('orders').emit('acquired', unread)).not.toThrow();
    listenTo('acquired');
    expect(() => new LockEventEmitter('orders').emit('acquired', unread)).toThrow('was read');
  });
});

describe('What events report of the caller', () => {
  it('is the method that asks for a lock', () => {
    const subject = { key: 'seat', recipe: 'mutex', method: 'Seats.book' };
    expect(lockSubject('seat', 'mutex', 'Seats.book')).toEqual(subject);
    expect(lockSubject('seat', 'semaphore')).toEqual({ key: 'seat', recipe: 'semaphore' });
  });

  it.each(['leaderLatch', 'leaderSelector'] as const)(
    'is the participant that stands in a %s, which is no method',
    (recipe) => {
      const subject = lockSubject('cron', recipe, 'web-1:4711');
      expect(subject).toEqual({ key: 'cron', recipe, participant: 'web-1:4711' });
      expect(subject).not.toHaveProperty('method');
    },
  );
});

/** What a listener does is no work of the holder in the scope of which something happened: it must not enter its locks. */
describe('In the scope of no lease', () => {
  let server: EmbeddedServer;
  let connection: SessionConnection;
  let locks: ZooKeeperLockClient;
  let heard: Map<string, (string | undefined)[]>;

  const note = (what: string) => {
    heard.set(what, [...(heard.get(what) ?? []), currentLease()?.key]);
  };

  /** A client of that server, and its connection. */
  function clientOf(served: EmbeddedServer, name: string) {
    const made = new SessionConnection({
      transport: new EmbeddedTransport(served),
      servers: embeddedServers,
      sessionTimeout: Infinity,
      clock: systemClock,
    });
    const client = new ZooKeeperLockClient({
      name,
      connection: made,
      events: new LockEventEmitter(name),
      clock: systemClock,
      basePath: '/locks',
      connectTimeout: 5_000,
      wait: 'forever',
      retryPolicy: new RetryForever(50),
    });
    return { locks: client, connection: made };
  }

  beforeEach(() => {
    heard = new Map();
    server = new EmbeddedServer();
    ({ locks, connection } = clientOf(server, 'unit'));
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
          const queued = new Promise((resolve) => locks.on('contended', resolve));
          const refused = inner.acquire({ signal: waiting.signal }).catch(() => {});
          await queued;
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

  it('are the handlers of a signal, but of its own lease, which has ended', async () => {
    await locks.connect();
    const lease = await locks.mutex('inner').acquire();
    const found: unknown[] = [];
    lease.signal.addEventListener('abort', () => {
      note('abort');
      const ended = currentLease()!;
      found.push(ended.isHeld, ended.signal.reason === lease.signal.reason);
      expect(() => ended.assertHeld()).toThrow(LockLostError);
    });
    await locks.mutex('outer').using(async () => {
      const session = connection.session!;
      session.end('a test'); // reported in the scope in which it is ended
    });
    expect(heard.get('abort')).toEqual(['inner']);
    expect(found).toEqual([false, true]);
  });

  it('are the handlers of a lease that is withdrawn: what they acquire does not re-enter it', async () => {
    await locks.connect();
    const mutex = locks.mutex('taken');
    const lease = (await mutex.acquire()) as LeaseHandle;
    const acquired = new Promise<Lease>((resolve) =>
      lease.signal.addEventListener('abort', () => {
        note('abort');
        resolve(mutex.acquire());
      }),
    );
    await lease.run(() => lease.withdraw('a test'));
    expect(heard.get('abort')).toEqual(['taken']);
    const next = (await acquired) as LeaseHandle;
    expect(next.hold).not.toBe(lease.hold);
    expect(next.isHeld).toBe(true);
  });

  it('are connections, and what follows upon them, in whatever scope the client was connected', async () => {
    const { locks: other } = clientOf(new EmbeddedServer(), 'other');
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
