import { beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createCluster } from 'redis';
import { createCluster as createCluster5 } from 'redis5';
import { LOCK_INSPECTION } from '../../lib/core/lock-inspection.js';
import type { Lease } from '../../lib/core/lease.js';
import type { Lock } from '../../lib/core/lock.js';
import { isPassing } from '../../lib/redis/connection/redis-error.js';
import type { RedisLease } from '../../lib/redis/locks/redis-lease.js';
import { makeClient } from '../../lib/redis/make-client.js';
import type { NodeRedisClusterClient } from '../../lib/redis/node-redis/node-redis.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../lib/redis/redis-options.js';
import { lockAcquire } from '../../lib/redis/scripts/index.js';
import { noMoreHandlesThan, openHandles } from '../e2e/support/open-handles.js';
import { tier } from '../support/tier.js';
import { eventually } from '../support/time.js';
import { useRedisCluster, useShared } from '../support/fixtures.js';
import { type CommandFilter, type LateCopy, RedisProxy } from '../support/redis-proxy.js';
import { AT_ONCE, useClients } from './support/clients.js';
import { extend, SINGLE_KINDS } from './support/late-copies.js';
import { onRedis } from './support/redis-stage.js';

/** Longer than any test: a client that is granted a lock before that was woken by a message. */
const LONG_LEASE = 600_000;

describe('On a Redis Cluster', () => {
  const { stage } = onRedis('cluster');

  describe('the channels of locks', () => {
    it.each([
      ['auto', 'SPUBLISH'],
      ['on', 'SPUBLISH'],
      ['off', 'PUBLISH'],
    ] as const)('with shardedSubscriptionMode %s are woken by %s', async (mode, publish) => {
      const clients = [1, 2].map(() => stage().client({ shardedSubscriptionMode: mode }));
      const [first, second] = await Promise.all(clients);
      const keys = ['a', 'b', 'c', 'd'].map((each) => `${stage().key}-${each}`); // on all three masters
      const log = await stage().log();
      for (const key of [...keys, stage().key]) {
        const lease = await first!.mutex(key).acquire({ lease: LONG_LEASE });
        const { lease: waiting } = await stage().queue(second!, second!.mutex(key));
        await lease.release();
        await using next = await waiting;
        expect(next.isHeld).toBe(true);
      }
      expect(await log.published(`{${stage().key}}`)).toEqual([
        ...[1, 2].map(() => `${publish} ${stage().names.channel} 0`),
      ]);
    });

    it('need one connection for messages to each master that they are on', async () => {
      const { mine, theirs, key } = stage();
      const keys = Array.from({ length: 12 }, (_, n) => `${key}-${n}`);
      const held = await Promise.all(keys.map((each) => mine.mutex(each).acquire()));
      const waiting = await Promise.all(
        keys.map((each) => stage().queue(theirs, theirs.mutex(each))),
      );
      await eventually('all are listened to', async () => {
        const channels = (await stage().commands('PUBSUB', 'SHARDCHANNELS')) as string[][];
        return channels.every(({ length }) => length > 0) && channels.flat().length === keys.length;
      });
      const lists = (await stage().commands('CLIENT', 'LIST', 'TYPE', 'pubsub')) as string[];
      expect(lists.map((list) => list.trim().split('\n').length)).toEqual([1, 1, 1]);

      await Promise.all(held.map((lease) => lease.release()));
      const next = await Promise.all(waiting.map(({ lease }) => lease));
      await Promise.all(next.map((lease) => lease.release()));
    });
  });

  describe('a grant that has to be on replicas', () => {
    it('is checked at the master that has the key', async () => {
      const client = await stage().client({ replicas: { atLeast: 1 } });
      await stage().commands('CONFIG', 'RESETSTAT');
      const keys = Array.from({ length: 12 }, (_, n) => `${stage().key}-${n}`);
      const leases: Lease[] = [];
      for (const key of keys) leases.push(await client.mutex(key).acquire()); // together they would be checked in common
      expect(leases.every(({ isHeld }) => isHeld)).toBe(true);

      const stats = (await stage().commands('INFO', 'commandstats')) as string[];
      const asked = stats.map((text) => Number(/cmdstat_wait:calls=(\d+)/.exec(text)?.[1]));
      const owned = ((await stage().commands('DBSIZE')) as number[]).map(Number);
      expect(asked).toEqual(owned);
      await Promise.all(leases.map((lease) => lease.release()));
    });

    it('is released when it is on too few', async () => {
      const { theirs, key } = stage();
      const client = await stage().client({ replicas: { atLeast: 2, timeout: 50 } });
      await expect(client.mutex(key).acquire()).rejects.toThrow('acknowledged by 1 of 2 replicas');
      await using next = await theirs.mutex(key).acquire({ wait: 10_000 });
      expect(next.isHeld).toBe(true);
    });
  });
});

const cluster = useRedisCluster();
const fleet = useShared(async () => {
  const proxies = await Promise.all(cluster().servers.map((server) => RedisProxy.start(server)));
  return { proxies, stop: () => Promise.all(proxies.map((proxy) => proxy.stop())) };
});
/** One in front of each server. */
const proxies = () => fleet().proxies;
const { connected } = useClients();

describe('A question to other processes on a Redis Cluster', () => {
  it('waits for no answer that cannot come, as it is known how many have heard it', async () => {
    const both = [1, 2].map(() => connected({ cluster: { nodes: cluster().nodes } }));
    const limits = { reportSize: 1_000, processes: 10 };
    const exchanges = (await Promise.all(both)).map((client) =>
      client[LOCK_INSPECTION].exchange(limits)!,
    );
    const [asking, answering] = exchanges;
    asking!.answer(() => 'mine');
    answering!.answer(() => 'theirs');
    const eachHears = async () => (await asking!.ask(50)).reports.length === 1;
    await eventually('the other process listens', eachHears);
    await expect(asking!.ask(600_000)).resolves.toMatchObject({ reports: ['theirs'] });
    await Promise.all(exchanges.map((exchange) => exchange.close()));
  });
});

/** A cluster client as its user has it. */
type UsersClient = NodeRedisClusterClient & { connect(): Promise<unknown>; destroy(): void };

describe.each<[string, (options: object) => UsersClient]>([
  ['node-redis 6', (options) => createCluster(options as never)],
  ['node-redis 5', (options) => createCluster5(options as never)],
])('A client by createCluster of %s', (_, make) => {
  const user = () =>
    make({
      rootNodes: cluster().nodes.map((socket) => ({ socket })),
      defaults: { socket: { connectTimeout: 2_000 } },
      minimizeConnections: true,
    });

  it('is neither connected nor closed, and leaves nothing open', async () => {
    const before = openHandles();
    const client = user();
    const [mine, theirs] = [await connected({ client }), await connected({ client })];
    const lease = await mine.mutex('template').acquire();
    const waiting = theirs.mutex('template').acquire();
    await eventually('it waits', () => theirs.activity().length === 1);
    await lease.release();
    await (await waiting).release();
    expect(client.isOpen).toBe(false);
    await Promise.all([mine.close(), theirs.close()]);
    await noMoreHandlesThan(before);
    await client.connect();
    await (await (await connected({ client })).mutex('template').acquire()).release();
    expect(client.isOpen).toBe(true);
    client.destroy();
  });
});

const OPTIONS_OF = {
  ioredis: (natMap?: object) => ({ redisOptions: AT_ONCE, ...(natMap && { natMap }) }),
  'node-redis': (nodeAddressMap?: object) => ({ nodeAddressMap }),
};

describe.each(['ioredis', 'node-redis'] as const)('By %s', (driver) => {
  beforeAll(() => cluster().restart());

  const direct = (options: RedisLockOptions = {}): Promise<RedisLockClient> =>
    connected({
      driver,
      cluster: { nodes: cluster().nodes, options: OPTIONS_OF[driver]() },
      ...options,
    });

  /** A client that may know no address but those of the proxies. */
  function behindProxies(options: RedisLockOptions = {}): Promise<RedisLockClient> {
    const addresses = proxies().map(({ host, port }) => ({ host, port }));
    const map = Object.fromEntries(
      cluster().servers.map(({ host, port }, i) => [`${host}:${port}`, addresses[i]!]),
    );
    const found = { nodes: addresses, options: OPTIONS_OF[driver](map) };
    return connected({ driver, cluster: found, ...options });
  }

  describe('A Redis Cluster that has other addresses for its clients', () => {
    it('is reached by them for locks, their messages, and the state of replicas', async () => {
      const [mine, theirs] = await Promise.all(
        [1, 2].map(() => behindProxies({ replicas: { atLeast: 1 } })),
      );
      const keys = ['a', 'b', 'c', 'd', 'e'].map((each) => `${driver}-${each}`);
      for (const key of keys) {
        const lease = await mine!.mutex(key).acquire({ lease: LONG_LEASE });
        const waiting = theirs!.mutex(key).acquire();
        await eventually('it is waited for', () => sent('ssubscribe', `{${key}}`));
        await lease.release();
        await using next = await waiting;
        expect(next.isHeld).toBe(true);
      }
      expect(sent(lockAcquire.sha1, keys[0]!)).toBe(true);
      expect(sent('wait', '1')).toBe(true);
    });

    function sent(name: string, part: string): boolean {
      return proxies().some(({ commands }) =>
        commands.some(
          (command) =>
            command.some((it) => it.toLowerCase() === name) &&
            command.some((it) => it.includes(part)),
        ),
      );
    }
  });

  describe('A Redis Cluster that was away', () => {
    it('is reached in full, also where one of its masters comes back last', async () => {
      const client = await direct();
      const states: string[] = [];
      client.on('connection', ({ state }) => states.push(state));
      const last = await cluster().masterOf('last');
      const { servers } = cluster();
      await Promise.all(servers.map((server) => server.kill()));
      const waiting = client.mutex('last').acquire(); // ioredis misses nothing that it is not asked for
      await eventually('it is missed', () => states.includes('SUSPENDED'));
      await Promise.all(servers.filter((each) => each !== last).map((each) => each.restart()));
      if (driver === 'node-redis')
        // ioredis waits until the cluster is complete
        await eventually('it has found the others', () => states.includes('RECONNECTED'));
      await cluster().restart();
      await using lease = await waiting;
      expect(lease.isHeld).toBe(true);
    }, 60_000);
  });

  describe('A command with keys of which one has moved', () => {
    const KEYS = ['{both}:1', '{both}:2'] as const;
    const [, MOVING] = KEYS;

    it.each([
      ['knows the node that the slot leaves', false],
      ['has yet to hear of that node, too', true],
    ])(
      'is one to be sent again later, where its client %s',
      async (_, isStale) => {
        const options = {
          driver,
          cluster: { nodes: cluster().nodes, options: OPTIONS_OF[driver]() },
        };
        const client = await makeClient('both', options);
        await client.connect();
        try {
          await (await cluster().masterOf(MOVING)).command('SET', MOVING, 'moving');
          if (isStale) await cluster().migrate(MOVING);
          await cluster().migrate(MOVING, async (move) => {
            await move(MOVING);
            const error: unknown = await client.call('mget', ...KEYS).catch((it: unknown) => it);
            expect(String(error)).toMatch(
              /^Error: Too many Cluster redirections. Last error: ReplyError: (ASK|MOVED|TRYAGAIN) /,
            );
            expect(isPassing(error)).toBe(true);
          });
          expect(await client.call('mget', ...KEYS)).toEqual([null, 'moving']);
        } finally {
          client.disconnect();
        }
      },
      60_000,
    );
  });

  if (driver === 'node-redis' && tier !== 'long') return;

  const SHORT = 12_000;
  const LONG = 120_000;

  describe('On a Redis Cluster a late copy', () => {
    let mine: RedisLockClient;
    let theirs: RedisLockClient;
    let key: string;

    beforeEach(async () => {
      key = `{${randomUUID()}}`;
      [mine, theirs] = await Promise.all([behindProxies(), direct()]);
    });

    describe.each(SINGLE_KINDS)('of an acquire of a %s', (_, of, rival) => {
      beforeEach(async () => {
        const lease = await of(mine, `${key} before`).acquire(); // from here on the server knows the scripts
        await extend(lease, LONG);
        await lease.release();
      });

      it('shortens no lease', async () => {
        const [lease, copy] = await late(() => of(mine, key).acquire({ lease: SHORT }));
        await eventually('it is extended', () => isExtended(lease));
        await arrive(copy);
        expect(await leaseLeft()).toBeGreaterThan(LONG / 2);
        expect(await rival(theirs, key).tryAcquire()).toBeUndefined();
        expect(lease.isHeld).toBe(true);
      });

      it('takes nothing once the lease was released', async () => {
        const [lease, copy] = await late(() => of(mine, key).acquire());
        await lease.release();
        await arrive(copy);
        expect(await rival(theirs, key).tryAcquire()).toMatchObject({ isHeld: true });
      });
    });

    it('of a count-down counts nothing', async () => {
      key = randomUUID();
      await theirs.countDownLatch(key).trySetCount(4);
      await theirs.countDownLatch(key).countDown(); // from here on its server knows the scripts
      const [, copy] = await late(() => mine.countDownLatch(key).countDown());
      await mine.close(); // what it has sent afterwards has arrived too
      await arrive(copy);
      expect(await theirs.countDownLatch(key).getCount()).toBe(2);
    });

    /**
     * Runs an action of which the first script about the key is held up until its connection is given up; resolves to its result
     * and the late copy.
     */
    async function late<T>(work: () => Promise<T>): Promise<[T, LateCopy]> {
      let isSent = false;
      const isFirst: CommandFilter = ([name, ...args]) => {
        if (isSent || !/^eval/i.test(name!) || !args.includes(key)) return false;
        return (isSent = true); // what is sent again may go to any of the servers, and is not held up
      };
      const copies = proxies().map((proxy) => proxy.strand(isFirst));
      const working = work();
      working.catch(() => {}); // awaited below
      const copy = await eventually('it is under way', () => copies.find(({ count }) => count > 0));
      copy.giveUp();
      return [await working, copy];
    }

    /** Behind proxies ioredis follows redirections at random until it knows the slots again, and gives up after 16. */
    async function isExtended(lease: Lease): Promise<boolean> {
      try {
        await extend(lease, LONG);
        return true;
      } catch (error) {
        if (!String(error).includes('Too many Cluster redirections')) throw error;
        return false;
      }
    }

    async function arrive(copy: LateCopy): Promise<void> {
      const replies = (await copy.deliver()).map(String);
      expect(replies).not.toContainEqual(expect.stringMatching(/^(NOSCRIPT|MOVED)/));
    }

    /** Remaining time in ms of the lock, hold or permit that expires first. */
    async function leaseLeft(): Promise<number> {
      const server = await cluster().masterOf(key);
      const names = (await server.command('KEYS', `*${key.slice(1, -1)}*`)) as string[];
      const lefts = names.map(async (name) => {
        const isPermits = name.endsWith(':timeout');
        if (!isPermits) return (await server.command('PTTL', name)) as number;
        const [, end] = (await server.command('ZRANGE', name, 0, 0, 'WITHSCORES')) as string[];
        return end === undefined ? -1 : Number(end) - Date.now();
      });
      const isLease = (name: string) => name === key || /:(timeout|rwlock_timeout:1)$/.test(name);
      const left = (await Promise.all(lefts)).filter((ms, i) => ms >= 0 && isLease(names[i]!));
      return Math.min(...left);
    }
  });

  /** All in one slot. */
  const [STAYED, MOVED, THIRD] = ['{order}:1', '{order}:2', '{order}:3'] as const;
  /** Long enough for a client that has to try again, and does so for more than a second and a half. */
  const WATCHDOG_TIMEOUT = 6_000;

  /** A slot of which some keys have moved: every command with keys of both parts is refused, on both servers. */
  describe('Mutexes of a half-migrated slot', () => {
    const lost: string[] = [];
    let mine: RedisLockClient;
    let theirs: RedisLockClient;

    beforeEach(async () => {
      const options = { watchdogTimeout: WATCHDOG_TIMEOUT };
      [mine, theirs] = await Promise.all([direct(options), direct(options)]);
      lost.length = 0;
      mine.on('lost', ({ key }) => void lost.push(key));
    });

    it('are renewed, although one command for all of them is refused', async () => {
      const leases = [await mine.mutex(STAYED).acquire(), await mine.mutex(MOVED).acquire()];
      await cluster().migrate(STAYED, async (move) => {
        await move(MOVED);
        await Promise.all(leases.map((lease) => renewed(lease, 2))); // one may have been under way
      });
      expect(lost).toEqual([]);
      for (const lease of leases) await lease.release();
    }, 60_000);

    it('are released and acquired', async () => {
      const leases = [await mine.mutex(STAYED).acquire(), await mine.mutex(MOVED).acquire()];
      await cluster().migrate(STAYED, async (move) => {
        await move(MOVED);
        for (const lease of leases) await lease.release();
        for (const key of [STAYED, MOVED, THIRD]) {
          expect(await theirs.mutex(key).isLocked()).toBe(false);
          const lease = await theirs.mutex(key).acquire();
          expect(await mine.mutex(key).tryAcquire()).toBeUndefined();
          await lease.release();
          expect(await mine.mutex(key).isLocked()).toBe(false);
        }
      });
      expect(lost).toEqual([]);
    }, 60_000);

    it('go to the next waiter', async () => {
      const leases = [await mine.mutex(STAYED).acquire(), await mine.mutex(MOVED).acquire()];
      await cluster().migrate(STAYED, async (move) => {
        await move(MOVED);
        const waiting = [theirs.mutex(STAYED).acquire(), theirs.mutex(MOVED).acquire()];
        await eventually('they wait', () => theirs.activity().length === 2);
        for (const lease of leases) await lease.release();
        for (const next of waiting) await (await next).release();
      });
    }, 60_000);

    it('are granted on replicas of the master that has them', async () => {
      const careful = await direct({ replicas: { atLeast: 1, timeout: 200 } });
      const from = await cluster().masterOf(STAYED);
      await from.command('CONFIG', 'RESETSTAT');
      let acquiring: Promise<RedisLease> | undefined;
      await cluster().migrate(STAYED, async () => {
        acquiring = careful.mutex(MOVED).acquire();
        await eventually('it is asked where the lock is', async () =>
          /errorstat_ASK:count=([3-9]|\d\d)/.test(String(await from.command('INFO', 'errorstats'))),
        );
        expect(careful.activity()).toMatchObject([{ key: MOVED, state: 'waiting' }]);
      });
      await using lease = await acquiring!;
      expect(lease.isHeld).toBe(true);
    }, 60_000);

    /** Resolves once the lease was renewed that many times: only a renewal increases its remaining time. */
    async function renewed(lease: RedisLease, times: number): Promise<void> {
      for (let time = 1; time <= times; time++) {
        let least = lease.remaining();
        await eventually(
          `${lease.key} is renewed`,
          () => {
            if (lease.remaining() > least) return true;
            least = lease.remaining();
            return false;
          },
          { within: 20_000 },
        );
      }
    }
  });

  type Of = (locks: RedisLockClient, key: string) => Lock;
  const read: Of = (locks, key) => locks.readWriteLock(key).readLock();
  const write: Of = (locks, key) => locks.readWriteLock(key).writeLock();
  const fair: Of = (locks, key) => locks.mutex(key, { fair: true });

  describe.each([
    ['fair mutex', 'fair mutex', fair, fair],
    ['read lock', 'write lock', read, write],
  ])('A %s in a slot that is moving', (name, next, of, nextOf) => {
    it(`is released while all of its keys are there, and a waiting ${next} is woken`, async () => {
      const options = { watchdogTimeout: LONG_LEASE }; // no waiter asks by itself
      const [mine, theirs] = [await direct(options), await direct(options)];
      const key = `${name} ${driver}`;
      const lease = await of(mine, key).acquire();
      const waiting = nextOf(theirs, key).acquire();
      const before = await cluster().masterOf(key);
      const slot = (await before.command('CLUSTER', 'KEYSLOT', key)) as number;
      const names = () => before.command('CLUSTER', 'GETKEYSINSLOT', slot, 9) as Promise<string[]>;
      const refusals = async () => String(await before.command('INFO', 'errorstats'));
      await eventually('it waits', async () => {
        const channels = (await before.command('PUBSUB', 'SHARDCHANNELS')) as string[];
        return channels.some((channel) => channel.includes(key));
      });
      const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
      await cluster().migrate(key, async () => {
        await before.command('CONFIG', 'RESETSTAT');
        await lease.release();
        await eventually('it is free', async () => !(await names()).includes(key));
        await eventually('the next one asks', async () => /ASK|TRYAGAIN/.test(await refusals()));
      });
      await (await waiting).release();
      expect(warn).not.toHaveBeenCalled();
      warn.mockRestore();
    }, 60_000);
  });

  describe('In a slot that is moving, while the keys of a command are there,', () => {
    /** What happens before the slot moves; returns what happens then. */
    type Part = (
      key: string,
      locks: readonly [RedisLockClient, RedisLockClient],
      names: () => Promise<string[]>,
    ) => Promise<(move: (name: string) => Promise<void>) => Promise<unknown>>;

    const readerBeside = (what: 'expired' | 'moved'): Part => {
      return async (key, [mine, theirs], names) => {
        const lease = await read(mine, key).acquire();
        const isBrief = what === 'expired' && { lease: 500 };
        const other = await theirs
          .readWriteLock(key)
          .readLock()
          .acquire({ ...isBrief });
        const hold = (await names()).find((name) => name.includes(`${other.holder}:rwlock`))!;
        return async (move) => {
          if (what === 'moved') await move(hold);
          await eventually(`it has ${what}`, async () => !(await names()).includes(hold));
          await lease.release();
          if (what === 'expired')
            await eventually('it is free', async () => !(await names()).includes(key));
          else expect(other.isHeld).toBe(true);
        };
      };
    };

    const lastInQueue: Part = async (key, [mine, theirs], names) => {
      await fair(mine, key).acquire();
      const isQueued = async () =>
        (await names()).some((name) => name.startsWith('redisson_lock_queue:'));
      const given = new AbortController();
      const waiting = fair(theirs, key).acquire({ signal: given.signal });
      const aborted = expect(waiting).rejects.toBeDefined();
      await eventually('it queues', isQueued);
      return async () => {
        given.abort();
        await aborted;
        await eventually('it has left', async () => !(await isQueued()));
      };
    };

    const deadInQueue = (push: 'LPUSH' | 'RPUSH'): Part => {
      return async (key, [mine, theirs], names) => {
        const server = await cluster().masterOf(key);
        const [queue, deadlines] = [
          `redisson_lock_queue:{${key}}`,
          `redisson_lock_timeout:{${key}}`,
        ];
        const lease = await fair(mine, key).acquire();
        fair(theirs, key)
          .acquire()
          .catch(() => {}); // it ends with its client
        await eventually('it queues', async () => (await names()).includes(queue));
        const line = await server.command('LRANGE', queue, 0, -1);
        const alive = (await names()).find((name) => name.startsWith('interlock_alive'))!;
        await server.command(push, queue, 'dead:1');
        await server.command('ZADD', deadlines, Date.now() + LONG_LEASE, 'dead:1');
        await server.command('ZADD', alive, Date.now() - 1, 'dead:1');
        return async () => {
          await lease.release();
          expect(await server.command('LRANGE', queue, 0, -1)).toEqual(line);
        };
      };
    };

    const lastOfWaiters: Part = async (key, [mine, theirs]) => {
      const server = await cluster().masterOf(key);
      const waiters = `interlock_waiters:{${key}}`;
      const lease = await mine.mutex(key).acquire();
      await server.command('ZADD', waiters, -(Date.now() + LONG_LEASE), 'dead:1'); // it listens
      const waiting = theirs.mutex(key).acquire();
      await eventually('it is woken by itself', async () => {
        const channels = (await server.command('PUBSUB', 'SHARDCHANNELS')) as string[];
        return channels.some((channel) => channel.includes(`{${key}}:`));
      });
      await server.command('ZREM', waiters, 'dead:1');
      return async () => {
        await lease.release();
        return waiting;
      };
    };

    it.each<[string, Part]>([
      ['a reader is released beside one that has expired', readerBeside('expired')],
      ['a reader is released beside one whose hold has moved', readerBeside('moved')],
      ['the last waiter for a fair mutex gives up', lastInQueue],
      ['a fair mutex is released whose first waiter has died', deadInQueue('LPUSH')],
      ['a fair mutex is released whose last waiter has died', deadInQueue('RPUSH')],
      ['a mutex is released that has one waiter left', lastOfWaiters],
    ])(
      '%s',
      async (name, part) => {
        const options = { watchdogTimeout: LONG_LEASE };
        const clients = [await direct(options), await direct(options)] as const;
        const key = `${name} ${driver}`;
        const before = await cluster().masterOf(key);
        const slot = (await before.command('CLUSTER', 'KEYSLOT', key)) as number;
        const names = () =>
          before.command('CLUSTER', 'GETKEYSINSLOT', slot, 9) as Promise<string[]>;
        const then = await part(key, clients, names);
        const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
        await cluster().migrate(key, async (move) => void (await then(move)));
        await Promise.all(clients.map((client) => client.close()));
        expect(warn).not.toHaveBeenCalled();
        warn.mockRestore();
      },
      60_000,
    );
  });

  describe('A mutex on a Redis Cluster after the failure of its master', () => {
    it('can still be locked and unlocked (Redisson: RedissonLockTest testLockFailoverInCluster)', async () => {
      const client = await direct();
      let granted = 0;
      let isDone = false;
      const users = Array.from({ length: 3 }, async () => {
        while (!isDone) {
          await nextTurn();
          const lease = await client.mutex('key').tryAcquire();
          if (lease) granted += 1;
          await lease?.release();
        }
      });
      const grants = (count: number) => eventually('it was granted', () => granted >= count);
      await grants(100);
      await cluster().failOver('key');
      await grants(granted + 100);
      isDone = true;
      await Promise.all(users);

      const successor = await cluster().masterOf('key');
      expect(await successor.command('EXISTS', 'key')).toBe(0);
    }, 60_000);
  });
});
