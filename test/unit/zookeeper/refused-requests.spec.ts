import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { LockEventEmitter } from '../../../lib/core/internal/lock-event-emitter.js';
import { EmbeddedServer } from '../../../lib/embedded/embedded-server.js';
import { embeddedServers, EmbeddedTransport } from '../../../lib/embedded/embedded-transport.js';
import { RetryForever } from '../../../lib/zookeeper/connection/retry-policies.js';
import { ReturnCode } from '../../../lib/zookeeper/connection/zookeeper-error.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import type { Request } from '../../../lib/zookeeper/connection/transport.js';
import { ZooKeeperLockClient } from '../../../lib/zookeeper/zookeeper-lock-client.js';
import { RefusingTransport } from '../../support/refusing-transport.js';
import { VirtualClock } from '../../support/virtual-clock.js';

const { NOAUTH, QUOTAEXCEEDED, THROTTLEDOP } = ReturnCode;
const TICK = 500;

/** Servers that are busy, or that an operator is about to change. */
describe('Requests that the servers refuse', () => {
  let clock: VirtualClock;
  let server: EmbeddedServer;
  let transport: RefusingTransport;
  let connection: SessionConnection;
  let locks: ZooKeeperLockClient;
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});

  beforeEach(async () => {
    warn.mockClear();
    clock = new VirtualClock();
    server = new EmbeddedServer({ clock, tickTime: TICK });
    const defer = (flush: () => void) => void clock.setTimer(flush, 0);
    transport = new RefusingTransport(new EmbeddedTransport(server, defer));
    connection = new SessionConnection({
      transport,
      servers: embeddedServers,
      sessionTimeout: 5_000,
      tickTime: TICK,
      clock,
    });
    locks = new ZooKeeperLockClient({
      name: 'unit',
      connection,
      events: new LockEventEmitter(),
      clock,
      basePath: '/locks',
      connectTimeout: 5_000,
      wait: 'forever',
      retryPolicy: new RetryForever(50),
      nodeData: Buffer.alloc(0),
    });
    await clock.runUntil(locks.connect());
  });
  afterEach(() => clock.runUntil(locks.close()));

  /** Each such request is refused so often. */
  function refuse(rc: number, times: number, matches: (request: Request) => boolean): void {
    const refused = new Map<string, number>();
    transport.refusal = (request) => {
      const { op, path } = request;
      const before = refused.get(`${op} ${path}`) ?? 0;
      if (!matches(request) || before >= times) return undefined;
      refused.set(`${op} ${path}`, before + 1);
      return rc;
    };
  }

  const acquire = (key: string) => clock.runUntil(locks.mutex(key).acquire());
  const nodesOf = (key: string) => server.tree.get(`/locks/${key}`)?.children.size ?? 0;
  const isDelete = ({ op }: Request) => op === 'delete';

  it.each([
    ['a busy server', THROTTLEDOP],
    ['a list that is being changed', NOAUTH],
    ['a quota', QUOTAEXCEEDED],
  ])('are no end of a removal: %s', async (_, rc) => {
    const keys = Array.from({ length: 30 }, (_, i) => `key-${i}`);
    const leases = [];
    for (const key of keys) leases.push(await acquire(key));
    refuse(rc, 5, isDelete);
    await clock.runUntil(Promise.all(leases.map((lease) => lease.release())));
    expect(keys.filter((key) => nodesOf(key) > 0)).toEqual(keys);
    await clock.advance(4_000);
    expect(keys.filter((key) => nodesOf(key) > 0)).toEqual([]);
  });

  it('are reported once a node when an operator has to act, and not when the server is busy', async () => {
    const [first, second] = [await acquire('first'), await acquire('second')];
    refuse(NOAUTH, 5, ({ op, path }) => op === 'delete' && path.includes('/first/'));
    await clock.runUntil(first.release());
    refuse(THROTTLEDOP, 5, isDelete);
    await clock.runUntil(second.release());
    await clock.advance(10_000);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn).toHaveBeenCalledWith(
      expect.stringMatching(/not allowed to remove .*\/first\/.*NOAUTH/),
    );
  });

  it('do not hold up the closing of the client, which ends the session', async () => {
    const lease = await acquire('key');
    refuse(NOAUTH, Infinity, isDelete);
    await clock.runUntil(lease.release());
    const closed = clock.now();
    await clock.runUntil(locks.close());
    expect(clock.now() - closed).toBeLessThan(100);
    await clock.advance(0);
    expect(nodesOf('key')).toBe(0);
  });

  it.each(['create', 'getChildren', 'exists', 'getData', 'sync'] as const)(
    'by a busy server are tried again: %s',
    async (op) => {
      refuse(THROTTLEDOP, 3, (request) => request.op === op);
      const lease = await acquire('key');
      const next = locks.mutex('key').acquire();
      await clock.advance(1_000);
      await clock.runUntil(lease.release());
      expect((await clock.runUntil(next)).isHeld).toBe(true);
    },
  );

  it('by a busy server are no loss of the own node', async () => {
    const lease = await acquire('key');
    refuse(THROTTLEDOP, 3, ({ op }) => op === 'getData');
    expect(await clock.runUntil(lease.fencingToken())).toBeGreaterThan(0n);
    expect(lease.isHeld).toBe(true);
  });

  it('by a busy server do not keep a client from its connection', async () => {
    refuse(THROTTLEDOP, 2, ({ op }) => op === 'sync');
    server.cut(connection.session!.id);
    await clock.runUntil(() => !connection.isConnected);
    await clock.runUntil(() => connection.isConnected);
    expect(connection.state).toBe('RECONNECTED');
  });

  it('by a busy server do not lose a shared count', async () => {
    const count = locks.sharedCount('count', 1);
    refuse(THROTTLEDOP, 2, () => true);
    await clock.runUntil(count.start());
    await clock.runUntil(count.setCount(2));
    expect(count.count).toBe(2);
  });
});
