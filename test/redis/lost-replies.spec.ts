import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  LockConnectionError,
  LockLostError,
  LockNotHeldError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import type { Script } from '../../lib/redis/connection/script.js';
import type { RedisLock } from '../../lib/redis/locks/redis-lock.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../lib/redis/redis-options.js';
import {
  latchCountDown,
  latchDelete,
  latchSet,
  lockRelease,
  lockRenew,
  permitAcquire,
  permitReleaseIds,
  permitResize,
} from '../../lib/redis/scripts/index.js';
import { expectLost } from '../contract/backends/leases.js';
import { lossOf } from '../faults/support/leases.js';
import { eventually } from '../support/time.js';
import { useCleanup, useRedis } from '../support/fixtures.js';
import type { LostReplies } from '../support/redis-proxy.js';
import type { RedisServer } from '../support/redis-server.js';
import { Relay } from '../support/proxies.js';
import { AT_ONCE, listened, useClients, useProxy } from './support/clients.js';

const server = useRedis();
const { made, connected } = useClients();
const cleanup = useCleanup();
const proxy = useProxy(server);

/**
 * Reconnect delay in ms: the client checks its leases when a connection breaks, and is not back before its locks have expired.
 */
const AWAY = 60_000;

describe('A lease with a changed length', () => {
  let locks: RedisLockClient;

  beforeEach(async () => {
    await server().command('FLUSHALL');
    await server().command('SCRIPT', 'LOAD', lockRenew.source); // so that the first answer confirms the change
    const client = server().client({ port: proxy().port, retryStrategy: () => AWAY });
    locks = await connected({ client, watchdogTimeout: 2_000 });
  });
  afterEach(() => locks.close(10));

  const loseRenewals = () => proxy().loseReply((command) => command[1] === lockRenew.sha1);
  const isFree = () =>
    eventually('the lock is free', async () => (await server().command('EXISTS', 'seats')) === 0, {
      within: 20_000,
    });

  it.each([{ lease: 60_000 }, {}])(
    'is lost before the server frees the lock, though no reply confirms that the change took effect: %j',
    async (options) => {
      const lease = await locks.mutex('seats').acquire(options);
      const lost = lossOf(lease);
      const loss = loseRenewals();

      const shortened = lease.extend(3_000).catch((error: unknown) => error);
      await eventually('it took effect', () => loss.lost === 1);
      const freeAt = Number(await server().command('PEXPIRETIME', 'seats'));

      expect(await lost).toBeLessThan(freeAt);
      expect(lease.isHeld).toBe(false);
      expect(await shortened).toBeInstanceOf(LockLostError);
      await isFree();
    },
  );

  it('is as long as requested last, whatever answers arrive in between, and is renewed to that length', async () => {
    const lease = await locks.mutex('seats').acquire();
    proxy().hold(); // so that both are on their way
    const longer = lease.extend(60_000);
    const shorter = lease.extend(500);
    proxy().resume();
    await Promise.all([longer, shorter]);

    const remaining = lease.remaining();
    expect(remaining).toBeGreaterThan(0);
    expect(remaining).toBeLessThanOrEqual(500);
    expect(await server().command('PTTL', 'seats')).toBeLessThanOrEqual(500);
    await eventually('time has gone by', () => lease.remaining() < 400);
    await eventually('it was renewed', () => lease.remaining() > 400);
    await lease.release();
  });
});

describe('A release on Redis while a renewal is under way', () => {
  const key = 'seats';
  const sentFor = (digest: string, of = key) =>
    proxy().commands.filter((command) => command.includes(digest) && command.includes(of)).length;
  const lost: unknown[] = [];
  let client: RedisLockClient;
  let theirs: RedisLockClient;

  beforeEach(async () => {
    await server().command('FLUSHALL');
    const connect = { host: proxy().host, port: proxy().port, ...AT_ONCE };
    client = await connected({ connect, watchdogTimeout: 6_000 });
    theirs = await connected({ connect: server().url });
    lost.length = 0;
    client.on('lost', (event) => lost.push(event));
  });

  it.each([
    ['has not arrived yet', () => proxy().hold()],
    ['was not answered yet', () => proxy().holdReplies()],
  ])('arrives after it, and the lock is free, where it %s', async (_, hold) => {
    const lease = await client.mutex(key).acquire();
    hold();
    await eventually('it is under way', () => sentFor(lockRenew.sha1) > 0);
    const renewals = sentFor(lockRenew.sha1);
    const released = lease.release();
    await eventually('the release is too', () => sentFor(lockRelease.sha1) > 0);
    proxy().resume();
    await released;

    const next = await theirs.mutex(key).acquire({ lease: 5_000 });
    await using _other = await client.mutex(`${key}-2`).acquire();
    await eventually('others are renewed', () => sentFor(lockRenew.sha1, `${key}-2`) > 0);
    expect(sentFor(lockRenew.sha1)).toBe(renewals);
    expect(await server().command('HEXISTS', key, next.holder)).toBe(1);
    expect(lost).toEqual([]);
    await next.release();
  });

  it('arrives after it where both are sent again on another connection', async () => {
    const lease = await client.mutex(key).acquire();
    const loss = proxy().loseReply((command) => command.includes(lockRenew.sha1) && loss.lost < 1);
    proxy().hold();
    await eventually('it is under way', () => sentFor(lockRenew.sha1) > 0);
    const released = lease.release();
    proxy().resume();
    await released;
    expect(loss.lost).toBe(1);
    await using next = await theirs.mutex(key).acquire({ wait: 5_000 });
    expect([next.isHeld, lost]).toEqual([true, []]);
  });
});

describe('A connection that falls silent without being closed', () => {
  it('is given up by clients that were made of a URL and of options of ioredis, which connect anew', async () => {
    const { host, port } = proxy();
    const making = [`redis://${host}:${port}`, { host, port }].map(async (connect) => {
      const locks = await made({ connect, watchdogTimeout: 2_000 });
      const states: string[] = [];
      locks.on('connection', ({ state }) => states.push(state));
      await locks.connect();
      return { locks, states };
    });
    const clients = await Promise.all(making);

    proxy().hold();
    const acquiring = clients.map(({ locks }, i) => locks.mutex(`seats-${i}`).acquire());
    await eventually('all are given up', () =>
      clients.every(({ states }) => states.includes('SUSPENDED')),
    );
    proxy().resume();

    for (const lease of await Promise.all(acquiring)) await lease.release();
    for (const { states } of clients)
      expect(states).toEqual(['CONNECTED', 'SUSPENDED', 'RECONNECTED']);
  });
});

describe('A server that answers late when a client connects, and in time later,', () => {
  let client: RedisLockClient;

  /** Connects over a link with a round trip of 400 ms, which is fast from then on. */
  async function connectSlowly(): Promise<void> {
    const relay = cleanup(await Relay.start(server(), 200), (slow) => slow.stop());
    client = await connected({ connect: { host: relay.host, port: relay.port, ...AT_ONCE } });
    relay.delay = 0;
  }
  it('grants short leases once any answer has come in time', async () => {
    await connectSlowly();
    await expect(client.mutex('short').acquire({ lease: 1_000 })).rejects.toThrow('round trips');
    await client.ping(20_000);
    await (await client.mutex('short').acquire({ lease: 1_000 })).release();
  });

  it('grants short leases after one was rejected', async () => {
    await connectSlowly();
    await eventually('it is granted', () => client.mutex('short').acquire({ lease: 1_000 }));
  });
});

const KEY = 'orders';

describe('After the reply to an executed command was lost', () => {
  let direct: RedisLockClient;
  let client: RedisLockClient;

  beforeEach(async () => {
    const connection = server().client({ port: proxy().port, retryStrategy: () => 50 });
    [direct, client] = await Promise.all([
      connected({ connect: server().url }),
      connected({ client: connection }),
    ]);
  });

  describe('a semaphore', () => {
    beforeEach(async () => {
      const warm = client.semaphore('warm'); // from here on the server knows the scripts by their digests
      await warm.trySetPermits(1);
      const { permitIds } = await warm.acquire();
      await warm.release(permitIds);
      await server().command('FLUSHALL');
    });

    it('has lent the acquired permits, and no more', async () => {
      await direct.semaphore(KEY).trySetPermits(3);
      const losses = lose(permitAcquire, 2);
      const lease = await client.semaphore(KEY).acquire({ permits: 2 });
      expect(losses.lost).toBe(2);
      expect(await direct.semaphore(KEY).acquiredPermits()).toBe(2);
      await lease.release();
      expect(await direct.semaphore(KEY).availablePermits()).toBe(3);
    });

    it('has the added permits once, however often the command was sent', async () => {
      await direct.semaphore(KEY).trySetPermits(3);
      const losses = lose(permitResize, 3);
      await client.semaphore(KEY).addPermits(2);
      expect(losses.lost).toBe(3);
      expect(await direct.semaphore(KEY).getPermits()).toBe(5);
      await isRemembered();
    });

    it('reports to its caller that it set the number of permits', async () => {
      const losses = lose(permitResize);
      expect(await client.semaphore(KEY).trySetPermits(3)).toBe(true);
      expect(losses.lost).toBe(1);
      expect(await direct.semaphore(KEY).trySetPermits(4)).toBe(false);
      expect(await direct.semaphore(KEY).getPermits()).toBe(3);
      await isRemembered();
    });

    it('has taken back the permit that was released by its id, and reports it', async () => {
      await direct.semaphore(KEY).trySetPermits(2);
      const { permitIds } = await direct.semaphore(KEY).acquire();
      const losses = lose(permitReleaseIds);
      await client.semaphore(KEY).release(permitIds);
      expect(losses.lost).toBe(1);
      expect(await direct.semaphore(KEY).availablePermits()).toBe(2);
      await expect(client.semaphore(KEY).release(permitIds)).rejects.toBeInstanceOf(
        LockNotHeldError,
      );
      await isRemembered();
    });
  });

  describe('a count-down latch', () => {
    beforeEach(async () => {
      const warm = client.countDownLatch('warm'); // from here on the server knows the scripts by their digests
      await warm.trySetCount(1);
      await warm.countDown();
      await warm.delete();
      await server().command('FLUSHALL');
    });

    it('is counted down once, and reports the remaining count to its caller', async () => {
      await direct.countDownLatch(KEY).trySetCount(3);
      const losses = lose(latchCountDown);
      expect(await client.countDownLatch(KEY).countDown()).toBe(2);
      expect(losses.lost).toBe(1);
      expect(await direct.countDownLatch(KEY).getCount()).toBe(2);
      await isRemembered();
      await direct.countDownLatch(KEY).delete();
    });

    it('is counted down once, however often the command was sent', async () => {
      await direct.countDownLatch(KEY).trySetCount(3);
      const losses = lose(latchCountDown, 4);
      expect(await client.countDownLatch(KEY).countDown()).toBe(2);
      expect(losses.lost).toBe(4);
      expect(await direct.countDownLatch(KEY).getCount()).toBe(2);
    });

    it('stays open, and its next use is not counted down', async () => {
      const latch = direct.countDownLatch(KEY);
      await latch.trySetCount(1);
      const losses = lose(latchCountDown);
      const last = client.countDownLatch(KEY).countDown();
      await latch.await();
      await latch.trySetCount(2);
      expect(await last).toBe(0);
      expect(losses.lost).toBe(1);
      expect(await latch.getCount()).toBe(2);
    });

    it('reports to its caller that it closed the latch', async () => {
      const losses = lose(latchSet);
      expect(await client.countDownLatch(KEY).trySetCount(2)).toBe(true);
      expect(losses.lost).toBe(1);
      expect(await direct.countDownLatch(KEY).getCount()).toBe(2);
      await isRemembered();
      await direct.countDownLatch(KEY).delete();
    });

    it('is not closed again once it was opened', async () => {
      const latch = direct.countDownLatch(KEY);
      const losses = lose(latchSet);
      const closed = client.countDownLatch(KEY).trySetCount(1);
      await eventually('it is closed', async () => (await latch.getCount()) === 1);
      await latch.countDown();
      expect(await closed).toBe(true);
      expect(losses.lost).toBe(1);
      expect(await latch.getCount()).toBe(0);
    });

    it('reports to its caller that it deleted the latch, and is left alone once it is closed again', async () => {
      const latch = direct.countDownLatch(KEY);
      await latch.trySetCount(1);
      const losses = lose(latchDelete);
      const deleted = client.countDownLatch(KEY).delete();
      await latch.await();
      await latch.trySetCount(2);
      expect(await deleted).toBe(true);
      expect(losses.lost).toBe(1);
      expect(await latch.getCount()).toBe(2);
    });

    it('is waited for over a connection that breaks', async () => {
      const latch = direct.countDownLatch(KEY);
      await latch.trySetCount(1);
      const opened = client.countDownLatch(KEY).await({ wait: 20_000 });
      await listened(server(), `{${KEY}}`);
      proxy().cut();
      await latch.countDown();
      const openedAt = performance.now();
      await opened;
      expect(performance.now() - openedAt).toBeLessThan(5_000); // the connection is restored long before the wait that a lost message causes
    });
  });

  /** Loses the replies to that script the given number of times. */
  function lose({ sha1 }: Script, times = 1): LostReplies {
    const losses = proxy().loseReply(([, script]) => script === sha1 && losses.lost < times);
    return losses;
  }

  /** Only the answer is kept, for copies of the request that may arrive later. */
  async function isRemembered(): Promise<void> {
    const keys = (await server().command('KEYS', '*')) as string[];
    const answers = keys.filter((name) => /^interlock_requests?:/.test(name));
    expect(keys.filter((name) => !answers.includes(name))).toEqual([KEY]);
    expect(answers).not.toEqual([]);
    for (const name of answers)
      expect(await server().command('PTTL', name)).toBeGreaterThan(15 * 60_000);
  }
});

const CONNECT_TIMEOUT = 800;
/** Far more than the bound, and far less than the time after which ioredis gives up a command. */
const PATIENCE = 15_000;

const SOURCES: readonly [string, (server: RedisServer) => RedisLockOptions][] = [
  ['a client of its own', ({ host, port }) => ({ connect: { host, port, ...AT_ONCE } })],
  [
    'a client of its own that never gives up',
    ({ host, port }) => ({ connect: { host, port, maxRetriesPerRequest: null, ...AT_ONCE } }),
  ],
  ["a user's client", (server) => ({ client: server.client() })],
  [
    "a user's client that never gives up",
    (server) => ({ client: server.client({ maxRetriesPerRequest: null }) }),
  ],
];

describe('With a server that is gone', () => {
  const timeout = { connectTimeout: CONNECT_TIMEOUT };

  afterEach(() => server().restart());

  describe.each(SOURCES)('a change that counts once, by %s,', (_, source) => {
    it('rejects soon when there is no server, and reports that its outcome is unknown', async () => {
      const locks = await connected({ ...source(server()), ...timeout });
      await server().kill();
      const changes = [
        locks.plainSemaphore('plain').release(),
        locks.plainSemaphore('plain').drainPermits(),
        locks.countDownLatch('latch').countDown(),
        locks.semaphore('permits').addPermits(2),
      ];
      for (const error of await Promise.all(changes.map(failure))) {
        expect(error).toBeInstanceOf(LockConnectionError);
        expect(error).toMatchObject({ message: expect.stringMatching(/unknown/i) });
      }
    });

    /** The error that it rejects with; something else where it resolves, or takes long. */
    function failure(change: Promise<unknown>): Promise<unknown> {
      const late = new Promise((resolve) => {
        setTimeout(() => resolve(`not within ${PATIENCE} ms`), PATIENCE).unref();
      });
      return Promise.race([
        change.then(
          (answer) => ({ answer }),
          (error: unknown) => error,
        ),
        late,
      ]);
    }
  });

  describe('a release after the work under a plain semaphore', () => {
    const name = 'of the work'; // the changes of the tests above may arrive late
    let locks: RedisLockClient;

    beforeEach(async () => {
      const { host, port } = server();
      const connect = { host, port, maxRetriesPerRequest: 1, ...AT_ONCE };
      locks = await connected({ connect, ...timeout });
      await locks.plainSemaphore(name).trySetPermits(1);
    });

    it('leaves the result alone', async () => {
      const used = locks.plainSemaphore(name).using(async () => {
        await server().kill();
        return 'result';
      });
      expect(await used).toBe('result');
    });

    it('leaves the error alone', async () => {
      const mine = new Error('of the work');
      const used = locks.plainSemaphore(name).using(async () => {
        await server().kill();
        throw mine;
      });
      await expect(used).rejects.toBe(mine);
    });
  });

  it.each<[string, (client: RedisLockClient) => RedisLock]>([
    ['mutex (Redisson: RedissonLockTest testRedisFailed)', (client) => client.mutex(KEY)],
    [
      'spin lock (Redisson: RedissonSpinLockTest testRedisFailed)',
      (client) => client.spinLock(KEY),
    ],
  ])('there is no grant, and no wait for longer than requested, of a %s', async (_, of) => {
    const { host, port } = server();
    const connect = { host, port, ...AT_ONCE };
    const [mine, theirs] = [await connected({ connect }), await connected({ connect })];
    const lease = await of(mine).acquire({ lease: 400 });
    await server().kill();
    const wanted = of(theirs);
    await expect(wanted.acquire({ wait: 300 })).rejects.toBeInstanceOf(LockTimeoutError);
    await expect(wanted.tryAcquire({ wait: 300 })).rejects.toBeInstanceOf(LockTimeoutError);
    await eventually('the signal of its holder aborts', () => lease.signal.aborted);
    expectLost(lease);
    await lease.release(); // does not wait for the server, and does not throw
    await server().restart();
    await using next = await wanted.acquire();
    expect(next.isHeld).toBe(true);
  });
});
