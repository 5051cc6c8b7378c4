import { beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { systemClock } from '../../../lib/core/clock.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import { CreateMode } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { createZooKeeperLockClient } from '../../../lib/zookeeper/create-zookeeper-lock-client.js';
import { eventually, toldAt } from '../../support/time.js';
import { FaultProxy, OpCode } from '../../support/zookeeper-proxy.js';
import { useCleanup } from '../../support/fixtures.js';
import { freePorts } from '../../support/processes.js';
import { byTier } from '../../support/tier.js';
import { transportOf } from '../../support/zookeeper-driver.js';
import { ZooKeeperServer } from '../../support/zookeeper-server.js';
import type { TestClient } from '../support/test-client.js';
import { useZooKeeperStage } from '../support/zookeeper-stage.js';

/** Longer than a label may be: it is refused without asking a name service. */
const UNRESOLVABLE = 'x'.repeat(64);
/** Connecting to the broadcast address fails at once: nothing is sent. */
const NO_ROUTE = '255.255.255.255:2181';

const SESSION_TIMEOUT = 4_000;
/** How long a busy machine may keep this process from running. */
const STALL = 500;
const EMPTY = Buffer.alloc(0);

const cleanup = useCleanup(); // what it ends, ends before the clients are closed
const stage = useZooKeeperStage();

describe('The connection to a server', () => {
  let client: TestClient;

  beforeEach(async () => void (client = await stage.far({ sessionTimeout: SESSION_TIMEOUT })));

  /** Begins a silence when the connection has just been used, after `ask`; resolves to how long it lasts until it is noticed. */
  async function silence(ask: () => Promise<unknown>): Promise<number> {
    const { proxy } = stage;
    const beats = proxy.requestCount(OpCode.sync);
    await eventually('a heartbeat', () => proxy.requestCount(OpCode.sync) > beats);
    await client.connection.sync('/');
    proxy.hold();
    const start = performance.now();
    const asked = ask();
    await client.reached('SUSPENDED');
    await asked;
    return performance.now() - start;
  }

  it('that falls silent is given up within half the session timeout, with all that is unanswered', async () => {
    const refusal = { code: 'CONNECTIONLOSS', maybeDone: true };
    const ask = () => expect(client.connection.getChildren('/')).rejects.toMatchObject(refusal);
    expect(await silence(ask)).toBeLessThan(SESSION_TIMEOUT / 2 + STALL);
    stage.proxy.release();
    await client.reached('RECONNECTED');
    expect(client.states).toEqual(['SUSPENDED', 'RECONNECTED']);
  });

  it('that falls silent is given up within half the session timeout by a client that asks nothing', async () => {
    expect(await silence(async () => {})).toBeLessThan(SESSION_TIMEOUT / 2 + STALL);
  });

  it('that is out of reach is lost before the server can expire the session', async () => {
    const { server, proxy } = stage;
    const { id } = client.connection.session!;
    await client.connection.sync('/');
    const lostAt = toldAt((told) =>
      client.connection.onStateChange((state) => state === 'LOST' && told()),
    );
    proxy.stop();
    const isExpired = async () => !(await server.hasSession(id));
    await eventually('the server expires it', isExpired, { within: 20_000 });
    const expiredAt = Date.now(); // or a little before
    expect(await lostAt).toBeLessThan(expiredAt);
    expect(client.states).toEqual(['SUSPENDED', 'LOST']);
    await proxy.accept();
    await client.reached('RECONNECTED');
    expect(client.connection.session!.id).not.toBe(id);
  });

  it('that was abandoned for its silence, and speaks again too late, does not keep the lost session alive', async () => {
    const { key, server, proxy } = stage;
    const lease = await client.locks.mutex(key).acquire();
    const { id } = client.connection.session!;
    client.connection.onStateChange((state) => state === 'SUSPENDED' && proxy.refuse());
    proxy.holdReplies();
    await client.reached('SUSPENDED');
    proxy.release(); // the old connection works again, and the driver sends its pings on it; no other comes up
    expect(proxy.open).toBeLessThan(2); // none by the wire driver, which hangs up
    await eventually('lost', () => lease.signal.aborted);
    await stage.queue(0);
    expect(await server.hasSession(id)).toBe(false);
  });

  it('delivers a list of 1,000 waiters in small segments, and keeps the session', async () => {
    const { key, directory, proxy, other } = stage;
    const { connection, locks, states } = await stage.far({ sessionTimeout: 60_000 }); // not too short for a busy machine
    const session = connection.session!;
    const lease = await other.locks.mutex(key).acquire();
    const node = () => `${directory}/_c_${randomUUID()}-lock-`;
    const waiters = Array.from({ length: 999 }, () =>
      other.connection.create(node(), EMPTY, CreateMode.EPHEMERAL_SEQUENTIAL),
    );
    await Promise.all(waiters);
    proxy.slowReplies(1_400, 1);
    expect(await connection.getChildren(directory)).toHaveLength(1_000);
    expect(await locks.mutex(key).tryAcquire()).toBeUndefined();
    proxy.fullSpeed();
    expect(connection.session).toBe(session);
    expect([session.isAlive, states]).toEqual([true, []]);
    await lease.release();
  });
});

describe('Closing a connection', () => {
  let client: TestClient;

  beforeEach(async () => void (client = await stage.near({ sessionTimeout: 20_000 })));

  it('ends the session though answers are still to come', async () => {
    const { server, other } = stage;
    const { connection } = client;
    await other.connection.create('/closing', EMPTY, CreateMode.PERSISTENT);
    await connection.create('/closing/ephemeral', EMPTY, CreateMode.EPHEMERAL);
    const outcomes = Array.from({ length: 1_000 }, () =>
      connection.getChildren('/').catch((error: unknown) => error),
    );
    const start = performance.now();
    while (performance.now() - start < 50); // some of the answers lie in the socket
    server.freeze(); // and the server is slow to read what comes next
    void connection.close();
    setImmediate(() => server.thaw());
    for (const outcome of await Promise.all(outcomes))
      expect(outcome).toMatchObject({ code: 'CONNECTIONLOSS', maybeDone: true });
    await other.queue('/closing', 0); // long before the session could expire
  });

  it('takes no time when all is well, and has left the server when it resolves, so that the process may end', async () => {
    const { server } = stage;
    const session = `0x${client.connection.session!.id}`;
    await client.locks.mutex(stage.key).acquire();
    expect(await server.fourLetterWord('cons')).toContain(session);
    const start = performance.now();
    await client.locks.close();
    expect(performance.now() - start).toBeLessThan(2_000); // the driver would block for as long when its server hangs
    await stage.queue(0);
    await eventually('no connection is left', async () => {
      const connections = await server.fourLetterWord('cons');
      return connections !== '' && !connections.includes(session);
    });
  });

  it('comes to an end when the server hangs', async () => {
    const lease = await client.locks.mutex(stage.key).acquire();
    const start = performance.now();
    stage.server.freeze();
    await client.locks.close(500);
    expect(performance.now() - start).toBeLessThan(5_000);
    expect([lease.isHeld, client.connection.state]).toEqual([false, 'CLOSED']);
  });
});

describe('A connect string', () => {
  async function expectWorks(connect: string): Promise<void> {
    const client = await createZooKeeperLockClient('test', { connect, connectTimeout: 5_000 });
    try {
      await client.connect();
      await client.mutex('any').using((lease) => expect(lease.isHeld).toBe(true));
    } finally {
      await client.close();
    }
  }

  it('may hold a name, also one with a first address that has no listener', async () => {
    await expectWorks(`localhost:${stage.server.port}`); // ::1 and 127.0.0.1 on most hosts
  });

  it('may hold an IPv6 address', async () => {
    const six = await ZooKeeperServer.start({ host: '::1' });
    cleanup(six, () => six.stop());
    await expectWorks(six.connectString);
  });

  it('may hold servers that are down and names that do not resolve', async () => {
    const [unused] = await freePorts(1, '127.0.0.1');
    const { connectString } = stage.server;
    await expectWorks(`${UNRESOLVABLE}:2181,127.0.0.1:${unused},${connectString}`);
    await expectWorks(`${connectString},127.0.0.1:${unused},${UNRESOLVABLE}:2181`);
  });

  it('may end with a chroot that does not exist yet', async () => {
    const { server, other } = stage;
    await expectWorks(`${server.connectString}/team/app`);
    const inside = await stage.connect(`${server.connectString}/team/app`);
    await using one = await inside.locks.mutex('any').acquire();
    expect(await other.children('/team/app/locks')).toEqual(['any']);
    await using two = await inside.locks.mutex('/from/curator').acquire();
    expect([one.isHeld, two.isHeld]).toEqual([true, true]);
    await other.queue('/team/app/from/curator', 1);
    expect(await other.children('/from/curator')).toEqual([]);
  });
});

describe('The connection to servers', () => {
  it.each(byTier({ quick: [2], standard: [2], long: [2, 4] }))(
    'finds any one of %d that comes up again when all were down',
    async (count) => {
      const proxies = await Promise.all(
        Array.from({ length: count }, () => FaultProxy.start(stage.server)),
      );
      cleanup(proxies, () => proxies.forEach((proxy) => proxy.stop())); // before the close, which would wait for them
      let failures = 0;
      const client = await stage.connect(proxies.map((proxy) => proxy.connectString).join(), {
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
    },
  );

  it('does not lose time with a server that there is no way to', async () => {
    const { connectString } = stage.server;
    const start = performance.now();
    for (const servers of [
      [NO_ROUTE, NO_ROUTE, connectString],
      [connectString, NO_ROUTE],
      [NO_ROUTE, connectString],
    ])
      await stage.connect(servers.join(), { sessionTimeout: 30_000 });
    expect(performance.now() - start).toBeLessThan(5_000); // how long one hopeless attempt used to take
  });

  it('comes up as soon as a server does that was not there at first', async () => {
    const [port] = await freePorts(1, '127.0.0.1');
    const late = new ZooKeeperServer(port!);
    cleanup(late, () => late.stop());
    let failures = 0;
    const connecting = stage.connect(late.connectString, {
      onAttemptFailed: () => (failures += 1),
    });
    await eventually('refused', () => failures > 3);
    await late.restart();
    const { connection, locks } = await connecting;
    expect(connection.isConnected).toBe(true);
    await locks.close();
  });

  it('does not wait for a name service that does not answer', async () => {
    let asked = 0;
    const connection = new SessionConnection({
      transport: await transportOf(),
      sessionTimeout: 3_000,
      clock: systemClock,
      servers: {
        size: 2,
        next: () => ((asked += 1) === 1 ? new Promise(() => {}) : Promise.resolve(stage.server)),
      },
    });
    connection.start();
    await eventually('connected', () => connection.isConnected, { within: 3_000 });
    void connection.close();
  });
});

describe('A client that is never connected', () => {
  it('takes all its options, opens nothing, and can be closed unused', async () => {
    const client = await createZooKeeperLockClient('unused', {
      connect: 'zk1:2181',
      sessionTimeout: 10_000.5,
      connectTimeout: 1,
      basePath: '/my/locks',
      wait: 'forever',
      auth: [{ scheme: 'digest', auth: 'user:password' }],
      acl: [{ perms: 31, scheme: 'auth', id: '' }],
    });
    expect(client.name).toBe('unused');
    expect(client.mutex('door')).toMatchObject({ key: 'door', path: '/my/locks/door' });
    await client.close();
  });
});
