import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { lockRenew } from '../../lib/redis/scripts/index.js';
import { Program } from '../integration/support/program.js';
import { eventually } from '../support/eventually.js';
import { RedisProxy } from '../support/redis-proxy.js';
import { RedisServer } from '../support/redis-server.js';

const CONTENDER = new URL('./programs/contender.ts', import.meta.url);

describe('Redis, sent no more commands than needed,', () => {
  const clients: RedisLockClient[] = [];
  const programs: Program[] = [];
  let server: RedisServer;
  let proxy: RedisProxy;
  let countedFrom = 0;

  beforeAll(async () => {
    server = await RedisServer.start();
    proxy = await RedisProxy.start(server);
  });
  afterAll(async () => {
    await Promise.all(programs.map((program) => program.stop()));
    await Promise.all(clients.map((client) => client.close()));
    await proxy.stop();
    await server.stop();
  });

  let key = '';
  let tests = 0;
  beforeEach(() => {
    key = `lock-${++tests}`;
  });

  describe('without contention', () => {
    it('receives two scripts for an acquire and a release', async () => {
      const mutex = (await connect()).mutex(key);
      await (await mutex.acquire()).release(); // the server does not know the scripts before this
      await count();
      await (await mutex.acquire()).release();
      expect(sent()).toEqual(['evalsha', 'evalsha']);
    });

    it('receives two scripts for a tryAcquire and a release, and none for a re-entry', async () => {
      const mutex = (await connect()).mutex(key);
      await count();
      const lease = await mutex.tryAcquire();
      await lease!.run(() => mutex.using(async () => {}));
      await lease!.release();
      expect(sent()).toEqual(['evalsha', 'evalsha']);
    });

    it('receives as many for a lock that is fenced, fair, a read lock or a write lock', async () => {
      const client = await connect();
      const locks = [
        client.mutex(`${key}-fenced`, { fenced: true }),
        client.mutex(`${key}-fair`, { fair: true }),
        client.readWriteLock(`${key}-rw`).readLock(),
        client.readWriteLock(`${key}-rw`).writeLock(),
      ];
      for (const lock of locks) await lock.using(async () => {});
      for (const lock of locks) {
        await count();
        await lock.using(async () => {});
        expect(sent()).toEqual(['evalsha', 'evalsha']);
      }
    });
  });

  it('receives few packets for commands sent at the same time', async () => {
    const client = await connect(server.url);
    const cycle = async (i: number) => (await client.mutex(`${key}-${i}`).acquire()).release();
    await cycle(0);
    await count();
    await Promise.all(numbers(50).map(cycle));
    const [, reads] = /total_reads_processed:(\d+)/.exec(await info('stats'))!;
    expect(Number(reads)).toBeLessThan(30); // twice seven packets, parts of them, and the counting itself; not 100
  });

  describe('with ten acquires that each want the lock for 50 ms', () => {
    it('receives their scripts and hardly more from one process, in the order of arrival', async () => {
      const mutex = (await connect()).mutex(key);
      const served: number[] = [];
      await count();
      await Promise.all(
        numbers(10).map((i) =>
          mutex.using(async () => {
            served.push(i);
            await delay(50);
          }),
        ),
      );
      expect(served).toEqual(numbers(10));
      expect(sent().length).toBeLessThanOrEqual(25);
      expect(await carriedOut()).toBeLessThanOrEqual(100);
    });

    it('receives at most 110 commands from ten processes', async () => {
      const holder = await (await connect()).mutex(key).acquire();
      const ten = numbers(10).map(() => new Program(CONTENDER, [url(), key]));
      programs.push(...ten);
      await all(ten, 'connected');
      ten.forEach((program) => program.tell('take it'));
      await all(ten, 'waiting'); // so each has the connection for messages
      await holder.release();
      await all(ten, 'done');

      await count();
      ten.forEach((program) => program.tell('take it'));
      await all(ten, 'done');
      const commands = sent();
      expect(commands.length).toBeLessThanOrEqual(110);
      expect(commands.filter((name) => name === 'evalsha').length).toBeGreaterThanOrEqual(20);
    }, 60_000);
  });

  describe.each([
    { title: 'of one process', processes: 1, each: 100 },
    { title: 'of ten clients', processes: 10, each: 10 },
  ])('with 100 waiters $title', ({ processes, each }) => {
    it('receives nothing in ten seconds but the renewal of the holder', async () => {
      const lease = await (await connect()).mutex(key).acquire();
      const abort = new AbortController();
      let contended = 0;
      const waiting = numbers(processes).map(async () => {
        const client = await connect();
        client.on('contended', () => (contended += 1));
        const acquire = () => client.mutex(key).acquire({ signal: abort.signal });
        return Promise.allSettled(numbers(each).map(acquire));
      });
      await eventually('all wait', () => contended === processes * each);
      const asked = 1 + 2 * processes; // the holder once; one waiter of each client before and after it subscribes
      await eventually('no waiter asks any more', () => scriptsOf(key) === asked);

      const from = performance.now();
      await count();
      await eventually('ten seconds are over', () => performance.now() - from >= 10_000, {
        within: 15_000,
      });
      const isRenewal = ([, script]: readonly string[]) =>
        script === lockRenew.sha1 || script === lockRenew.source; // which the server may not know yet
      const commands = proxy.commands.slice(countedFrom);
      expect(commands.filter((command) => !isRenewal(command))).toEqual([]);
      const renewals = commands.filter(([, script]) => script === lockRenew.sha1).length;
      expect([1, 2]).toContain(renewals); // every ten seconds, or a step earlier
      expect(lease.isHeld).toBe(true);

      abort.abort();
      await lease.release();
      const ends = (await Promise.all(waiting)).flat();
      expect(ends.map(({ status }) => status)).toEqual(numbers(100).map(() => 'rejected'));
    }, 40_000);
  });

  async function connect(to = url()): Promise<RedisLockClient> {
    const client = await createRedisLockClient('test', { connect: to });
    clients.push(client);
    await client.connect();
    return client;
  }

  function url(): string {
    return `redis://${proxy.host}:${proxy.port}`;
  }

  /** Restarts the count. */
  async function count(): Promise<void> {
    await server.command('CONFIG', 'RESETSTAT');
    countedFrom = proxy.commands.length;
  }

  /** The names of the commands that clients have sent. */
  function sent(): string[] {
    return proxy.commands.slice(countedFrom).map(([name]) => name!.toLowerCase());
  }

  /** How many scripts were sent for that lock since the proxy started. */
  function scriptsOf(lock: string): number {
    return proxy.commands.filter(([name, , , on]) => name === 'evalsha' && on === lock).length;
  }

  /** How many commands the server has executed, including those inside scripts, by its own count. */
  async function carriedOut(): Promise<number> {
    const stats = await info('commandstats');
    const ours = [...stats.matchAll(/^cmdstat_(?!info|config)\S+:calls=(\d+)/gm)];
    return ours.reduce((sum, [, calls]) => sum + Number(calls), 0);
  }

  async function info(section: string): Promise<string> {
    return String(await server.command('INFO', section));
  }

  async function all(ten: readonly Program[], news: string): Promise<void> {
    await Promise.all(
      ten.map(async (program) => {
        while ((await program.next()) !== news);
      }),
    );
  }
});

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}
