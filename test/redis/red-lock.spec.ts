import { beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import {
  LockAbortedError,
  LockConnectionError,
  LockLostError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import type { RedLockClient } from '../../lib/redis/red-lock/red-lock-client.js';
import { CriticalSection, lossOf } from '../faults/support/leases.js';
import { eventually } from '../support/time.js';
import { useCleanup } from '../support/fixtures.js';
import { type LateCopy, RedisProxy } from '../support/redis-proxy.js';
import { onRedLock } from './support/red-lock-stage.js';

describe('A mutex on five servers', () => {
  const stage = onRedLock();

  it('is held on all of them, and on none after its release', async () => {
    const client = await stage().client();
    const lease = await stage().onAll(client);
    expect([lease.isHeld, lease.key]).toEqual([true, stage().key]);
    await lease.release();
    expect(lease.isHeld).toBe(false);
    await stage().isEmpty();
  });

  it('is granted where others hold a minority (Redisson: RedissonRedLockTest testLockSuccess, testLockSuccess2)', async () => {
    await stage().occupy(0, 3);
    const client = await stage().client();
    const lease = await client.mutex(stage().key).acquire({ wait: 5_000 });
    expect(lease.isHeld).toBe(true);
    await lease.release();
    expect(await stage().servers.having(stage().key)).toBe(2);
    expect(await client.mutex(stage().key).tryAcquire()).toMatchObject({ isHeld: true });
  });

  it('is denied where others hold a majority, which leaves nothing on the rest (Redisson: RedissonRedLockTest testLockFailed)', async () => {
    const { key, servers } = stage();
    await stage().occupy(0, 1, 4);
    const client = await stage().client();
    expect(await client.mutex(key).tryAcquire()).toBeUndefined();
    await expect(client.mutex(key).acquire({ wait: 400 })).rejects.toThrow(LockTimeoutError);
    await eventually('only theirs are left', async () => (await servers.having(key)) === 3);
  });

  it('is granted once others have released the majority', async () => {
    const { key, servers } = stage();
    await stage().occupy(0, 1, 4);
    const client = await stage().client();
    const contended = stage().next(client, 'contended');
    const waiting = client.mutex(key).acquire();
    await contended;
    await servers.all[4]!.command('DEL', key);
    expect(await waiting).toMatchObject({ isHeld: true });
  });

  it.each([{}, { lease: 4_000 }])(
    'admits the contenders of three clients one after the other with %p (Redisson: RedissonRedLockTest testLockLeasetimeWithSeconds, testTryLockLeasetime)',
    async (options) => {
      const section = new CriticalSection();
      let counter = 0;
      const visit = async (visitor: string, lock: ReturnType<typeof mutexOf>) => {
        const lease = await lock.acquire({ wait: 25_000, ...options });
        section.enter(visitor);
        const seen = counter;
        await new Promise(setImmediate);
        counter = seen + 1; // a second one inside would lose an update
        section.leave();
        await lease.release();
      };
      const clients = await stage().clients(3);
      const mutexOf = (client: (typeof clients)[number]) => client.mutex(stage().key);
      await Promise.all(
        Array.from({ length: 20 }, (_, i) => visit(`${i}`, mutexOf(clients[i % 3]!))),
      );
      expect([counter, section.most, new Set(section.visitors).size]).toEqual([20, 1, 20]);
      await stage().isEmpty();
    },
    60_000,
  );

  it('is renewed on every server', async () => {
    const { key, servers } = stage();
    const client = await stage().client({ watchdogTimeout: 2_500, nodeTimeout: 500 });
    const lease = await stage().onAll(client);
    const ends = (await servers.commands('PEXPIRETIME', key)) as number[];
    await eventually('the first lease would be over', () => Date.now() > Math.max(...ends));
    expect([lease.isHeld, await servers.having(key)]).toEqual([true, 5]);
    expect(lease.remaining()).toBeGreaterThan(0);
    expect(lease.remaining()).toBeLessThan(2_500);
    await lease.release();
    expect(lease.remaining()).toBe(0);
  });

  it('with a lease of its own is not renewed, and ends before the servers forget it', async () => {
    const { key, servers } = stage();
    const client = await stage().client();
    const lease = await stage().onAll(client, { lease: 2_000 });
    const ends = (await servers.commands('PEXPIRETIME', key)) as number[];
    expect(await lossOf(lease)).toBeLessThan(Math.min(...ends));
    expect(lease.isHeld).toBe(false);
    expect(lease.signal.reason).toBeInstanceOf(LockLostError);
    await stage().isEmpty();
  });

  it('is re-entered without a command to the servers', async () => {
    const { key, servers } = stage();
    const client = await stage().client();
    await client.mutex(key).using(async (outer) => {
      await servers.kill(0, 1, 2, 3, 4);
      await client.mutex(key).using((inner) => expect(inner.isHeld).toBe(true));
      expect(outer.isHeld).toBe(true);
      await servers.restore();
    });
  });

  it('is not re-entered where it is not reentrant', async () => {
    const { key } = stage();
    const client = await stage().client();
    await client.semaphoreMutex(`${key} strict`).using(async () => {
      expect(await client.semaphoreMutex(`${key} strict`).tryAcquire()).toBeUndefined();
    });
  });

  it('emits its events once, whatever the servers report', async () => {
    const client = await stage().client();
    const told: string[] = [];
    for (const event of ['contended', 'acquired', 'released', 'lost', 'failed'] as const)
      client.on(event, () => told.push(event));
    const lease = await client.mutex(stage().key).acquire();
    await lease.release();
    expect(told).toEqual(['acquired', 'released']);
  });

  it('works as one of many in a multi-lock', async () => {
    const client = await stage().client();
    const locks = ['a', 'b'].map((part) => client.mutex(`${stage().key} ${part}`));
    const lease = await client.multiLock(locks).acquire();
    expect(await client.mutex(`${stage().key} b`).tryAcquire()).toBeUndefined();
    await lease.release();
    await stage().isEmpty();
  });
});

describe.each([3, 5])('With %i servers', (count) => {
  const stage = onRedLock(count);

  it('20 contenders of three clients are served one after the other', async () => {
    const { servers, key } = stage();
    const clients = await stage().clients(3);
    const section = new CriticalSection();
    const contend = async (visitor: string, client: (typeof clients)[number]) => {
      const lease = await client.mutex(key).acquire({ wait: 25_000 });
      section.enter(visitor);
      const seen = Number(await servers.all[0]!.command('GET', 'counter')); // outside the lock's own keys
      await servers.all[0]!.command('SET', 'counter', seen + 1);
      section.leave();
      await lease.release();
    };
    const visitors = Array.from({ length: 20 }, (_, i) => `${i}`);
    await Promise.all(visitors.map((visitor, i) => contend(visitor, clients[i % 3]!)));
    expect([section.most, [...section.visitors].sort()]).toEqual([1, [...visitors].sort()]);
    expect(Number(await servers.all[0]!.command('GET', 'counter'))).toBe(20);
    await servers.all[0]!.command('DEL', 'counter');
    await stage().isEmpty();
  });

  it('concurrent contenders, in any order of the servers, do not hinder each other for long', async () => {
    const { nodes } = stage().servers;
    const rotated = nodes.map((_, i) => [...nodes.slice(i), ...nodes.slice(0, i)]);
    const clients = await Promise.all(
      rotated.slice(0, 3).map((order) => stage().client({ nodes: order })),
    );
    for (let round = 0; round < 10; round++) {
      const section = new CriticalSection();
      const visits = clients.map((client, i) =>
        client.mutex(`${stage().key} ${round}`).using(
          () => {
            section.enter(`${i}`);
            section.leave();
          },
          { wait: 20_000 },
        ),
      );
      await Promise.all(visits);
      expect([section.most, section.visitors.length]).toEqual([1, 3]);
    }
    await stage().isEmpty();
  });

  it('at most one of several single attempts is granted, and nothing is left of the others', async () => {
    const clients = await stage().clients(3);
    for (let round = 0; round < 20; round++) {
      const asked = clients.map((client) => client.mutex(stage().key).tryAcquire());
      const granted = (await Promise.all(asked)).filter((lease) => lease !== undefined);
      expect(granted.length).toBeLessThanOrEqual(1);
      await Promise.all(granted.map((lease) => lease.release()));
      await stage().isEmpty();
    }
  });
});

/** Servers that are away in turns, so that the remaining majorities differ; each has one in common with the next. */
const AWAY = [[], [0, 1], [3, 4], [1, 2], [0, 4], [2, 3], []];

describe('The fencing token of a lock on five servers', () => {
  const stage = onRedLock();

  it('is the same for as long as it is held', async () => {
    const client = await stage().client();
    await client.mutex(stage().key).using(async (lease) => {
      const token = await lease.fencingToken();
      expect(await lease.fencingToken()).toBe(token);
      await client.mutex(stage().key).using(async (inner) => {
        expect(await inner.fencingToken()).toBe(token);
      });
    });
  });

  it('grows from holder to holder, whichever majority grants the lock', async () => {
    const { servers, key } = stage();
    const [mine, theirs] = await stage().clients(2);
    const tokens: bigint[] = [];
    for (const away of [...AWAY, ...AWAY]) {
      for (const i of away) servers.all[i]!.freeze();
      const client = tokens.length % 2 === 0 ? mine! : theirs!;
      const lease = await client.mutex(key).acquire({ wait: 20_000 });
      tokens.push(await lease.fencingToken());
      await lease.release();
      for (const i of away) servers.all[i]!.thaw();
      await stage().isEmpty();
    }
    tokens.slice(1).forEach((token, i) => expect(token).toBeGreaterThan(tokens[i]!));
  });

  it('grows although one counter alone is far ahead', async () => {
    const { servers, key } = stage();
    await servers.all[0]!.command('SET', `redisson_lock_token:{${key}}`, 1_000);
    const client = await stage().client();
    const tokenWithout = async (...away: number[]) => {
      for (const i of away) servers.all[i]!.freeze();
      const lease = await client.mutex(key).acquire({ wait: 20_000 });
      const token = await lease.fencingToken();
      await lease.release();
      for (const i of away) servers.all[i]!.thaw();
      await stage().isEmpty();
      return token;
    };
    const first = await tokenWithout(3, 4);
    expect(first).toBe(1_001n);
    expect(await tokenWithout(0, 1)).toBeGreaterThan(first);
  });

  it('is denied to a holder that has lost the lock', async () => {
    const { servers, key } = stage();
    const client = await stage().client();
    const lease = await stage().onAll(client);
    for (const i of [0, 1, 2]) await servers.all[i]!.command('DEL', key); // the holder gets no message
    await expect(lease.fencingToken()).rejects.toMatchObject({ code: 'LOCK_LOST', key });
    expect(lease.isHeld).toBe(false);
  });

  it('is denied, and not waited for indefinitely, when a majority is silent', async () => {
    const { servers, key } = stage();
    const client = await stage().client({ watchdogTimeout: 2_500, nodeTimeout: 500 });
    const lease = await stage().onAll(client);
    for (const i of [0, 1, 2]) servers.all[i]!.freeze();
    await expect(lease.fencingToken()).rejects.toMatchObject({ code: 'LOCK_LOST', key });
    for (const i of [0, 1, 2]) servers.all[i]!.thaw();
    await lease.release();
  });

  it('is not waited for longer than the connectTimeout, while the lock is held', async () => {
    const { servers, key } = stage();
    const client = await stage().client({ watchdogTimeout: 600_000, connectTimeout: 5_000 });
    const lease = await stage().onAll(client);
    for (const i of [0, 1, 2]) servers.all[i]!.freeze();
    await expect(lease.fencingToken()).rejects.toMatchObject({
      constructor: LockConnectionError,
      key,
    });
    expect(lease.isHeld).toBe(true);
    for (const i of [0, 1, 2]) servers.all[i]!.thaw();
    expect(await lease.fencingToken()).toBeGreaterThan(0n);
    await lease.release();
  });

  it('can be requested again after too few servers reported it', async () => {
    const { servers, key } = stage();
    const users = servers.all.map((server) => server.client({ maxRetriesPerRequest: 0 }));
    const client = await stage().client({ nodes: users });
    const lease = await stage().onAll(client);
    const counter = `redisson_lock_token:{${key}}`;
    for (const i of [0, 1, 2]) await servers.all[i]!.command('LPUSH', counter, 'no counter');
    await expect(lease.fencingToken()).rejects.toBeInstanceOf(LockConnectionError);
    await servers.all[1]!.command('DEL', counter);
    expect(await lease.fencingToken()).toBeGreaterThan(0n);
    for (const user of users) user.disconnect();
  });
});

const WATCHDOG = 12_000;
const LONG = 120_000;

describe('A late copy, with servers that know nothing of each other,', () => {
  const stage = onRedLock(3);
  const cleanup = useCleanup();
  let proxies: RedisProxy[];
  let client: RedLockClient;

  beforeEach(async () => {
    const { servers } = stage();
    proxies = await Promise.all(servers.all.map((server) => RedisProxy.start(server)));
    for (const proxy of proxies) cleanup(proxy, () => proxy.stop());
    const options = { disconnectTimeout: 0, retryStrategy: () => 20 };
    const nodes = proxies.map(({ host, port }) => ({ host, port, ...options }));
    client = await stage().client({ nodes, watchdogTimeout: WATCHDOG, nodeTimeout: 4_000 });
    await eventually('each server knows the scripts', async () => {
      await (await client.mutex(randomUUID()).acquire()).release();
      const known = await servers.commands('INFO', 'memory');
      return known.every(
        (info) => Number(/number_of_cached_scripts:(\d+)/.exec(String(info))![1]) >= 2,
      );
    });
  });

  it('of an acquire shortens no lease', async () => {
    const [lease, copies] = await late(() => client.mutex(stage().key).acquire());
    await stage().isOnAll();
    lease.hold.atLeast = LONG;
    await lease.release();
    await isKept();
    await arrive(copies);
    await isKept();
    const other = await stage().client();
    expect(await other.mutex(stage().key).tryAcquire()).toBeUndefined();
  });

  it('of a renewal shortens no lease', async () => {
    const lease = await stage().onAll(client);
    const [, copies] = await late(async () => proxies.forEach((proxy) => proxy.cut()));
    lease.hold.atLeast = LONG;
    await lease.release();
    await isKept();
    await arrive(copies);
    await isKept();
  });

  it('of an acquire takes nothing once the lease was released', async () => {
    const [lease, copies] = await late(() => client.mutex(stage().key).acquire());
    await stage().isOnAll();
    await lease.release();
    await isFree();
    await arrive(copies);
    await isFree();
  });

  it('of an acquire takes nothing once the acquire was aborted', async () => {
    const abort = new AbortController();
    const copies = proxies.map((proxy) => proxy.strand(isScript));
    const acquired = client.mutex(stage().key).acquire({ signal: abort.signal });
    const aborted = expect(acquired).rejects.toBeInstanceOf(LockAbortedError);
    await eventually('all are under way', () => copies.every(({ count }) => count > 0));
    abort.abort();
    await aborted;
    for (const copy of copies) copy.giveUp();
    await client.close();
    await isFree();
    await arrive(copies);
    await isFree();
  });

  const isScript = ([name, ...args]: readonly string[]) =>
    /^eval/i.test(name!) && args.some((arg) => arg.includes(stage().key));

  /** Runs an action of which the first script on each server is held up until the connection is given up. */
  async function late<T>(work: () => Promise<T>): Promise<[T, LateCopy[]]> {
    const copies = proxies.map((proxy) => proxy.strand(isScript));
    const working = work();
    working.catch(() => {}); // awaited below
    await eventually('all are under way', () => copies.every(({ count }) => count > 0));
    for (const copy of copies) copy.giveUp();
    return [await working, copies];
  }

  async function arrive(copies: readonly LateCopy[]): Promise<void> {
    const replies = (await Promise.all(copies.map((copy) => copy.deliver()))).flat();
    expect(replies.map(String)).not.toContainEqual(expect.stringMatching(/^NOSCRIPT/));
  }

  async function isKept(): Promise<void> {
    await eventually('each server keeps it', async () => {
      const left = (await stage().servers.commands('PTTL', stage().key)) as number[];
      return left.every((ms) => ms > LONG / 2);
    });
  }

  async function isFree(): Promise<void> {
    await eventually(
      'no server has it',
      async () => (await stage().servers.having(stage().key)) === 0,
    );
  }
});
