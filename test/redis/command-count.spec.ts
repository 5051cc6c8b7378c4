import { beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { WAITERS_ON_SERVER } from '../../lib/redis/locks/local-queue.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { lockRenew, permitAcquire } from '../../lib/redis/scripts/index.js';
import { Program } from '../faults/support/program.js';
import { calm, eventually } from '../support/time.js';
import { useCleanup, useRedis, useShared } from '../support/fixtures.js';
import { RedisProxy } from '../support/redis-proxy.js';
import { byTier } from '../support/tier.js';
import { useClients } from './support/clients.js';

const CONTENDER = new URL('./support/programs/contender.ts', import.meta.url);

/** Of the test with processes of their own, each of which takes a second to start. */
const PROCESSES = byTier({ quick: 3, standard: 3, long: 10 });

/** How long the servers have to be left in peace, in ms. */
const IDLE = 2_000;

const SEMAPHORES = [
  ['semaphore', false],
  ['fair semaphore', true],
] as const;

const server = useRedis();
const proxy = useShared(() => RedisProxy.start(server()));
const { connected } = useClients();
const cleanup = useCleanup();
let key = '';
let tests = 0;
let countedFrom = 0;

beforeEach(() => {
  key = `key-${++tests}`;
});

describe('Redis, sent no more commands than needed,', () => {
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
    const client = await connected({ connect: server().url });
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
      expect(await carriedOut()).toBeLessThanOrEqual(120); // two of them look for waiters of other processes
    });

    it(`receives at most eleven commands from each of ${PROCESSES} processes`, async () => {
      const holder = await (await connect()).mutex(key).acquire();
      const programs = numbers(PROCESSES).map(() =>
        cleanup(new Program(CONTENDER, [url(), key]), (program) => program.stop()),
      );
      await all(programs, 'connected');
      programs.forEach((program) => program.tell('take it'));
      await all(programs, 'waiting'); // so each has the connection for messages
      await holder.release();
      await all(programs, 'done');

      await count();
      programs.forEach((program) => program.tell('take it'));
      await all(programs, 'done');
      const commands = sent();
      expect(commands.length).toBeLessThanOrEqual(11 * PROCESSES);
      expect(commands.filter((name) => name === 'evalsha').length).toBeGreaterThanOrEqual(
        2 * PROCESSES,
      );
    }, 60_000);
  });

  describe.each([
    { title: 'of one process', processes: 1, each: 100 },
    { title: 'of ten clients', processes: 10, each: 10 },
  ])('with 100 waiters $title', ({ processes, each }) => {
    it('receives nothing for a while but the renewals of the holder', async () => {
      const lease = await (await connect(2 * IDLE)).mutex(key).acquire();
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
      const asks = () =>
        scriptsOf(key) - proxy().commands.filter((one) => one[3] === key && isRenewal(one)).length;
      await eventually('no waiter asks any more', () => asks() >= asked);

      const from = performance.now();
      await count();
      await eventually('the time is over', () => performance.now() - from >= IDLE);
      const seen = commands();
      const thirds = (performance.now() - from) / ((2 * IDLE) / 3);
      expect(seen.filter((command) => !isRenewal(command))).toEqual([]);
      expect(seen.length).toBeGreaterThanOrEqual(1);
      expect(seen.length).toBeLessThanOrEqual(thirds / 0.65 + 1); // each after 65 to 100 % of a third of the lease
      expect(lease.isHeld).toBe(true);

      abort.abort();
      await lease.release();
      const ends = (await Promise.all(waiting)).flat();
      expect(ends.map(({ status }) => status)).toEqual(numbers(100).map(() => 'rejected'));
    });
  });
});

describe('Redis, sent no more commands for permits than needed,', () => {
  describe('without contention', () => {
    it.each(SEMAPHORES)(
      'receives two scripts for an acquire and a release (%s)',
      async (_, fair) => {
        const semaphore = (await connect()).semaphore(key, { permits: 3, fair });
        await semaphore.using(() => {}); // the server does not know the scripts before this
        for (const permits of [1, 3]) {
          await count();
          await (await semaphore.acquire({ permits })).release();
          expect(sent()).toEqual(['evalsha', 'evalsha']);
        }
      },
    );

    it.each(SEMAPHORES)(
      'receives two scripts for a tryAcquire and a release (%s)',
      async (_, fair) => {
        const semaphore = (await connect()).semaphore(key, { permits: 3, fair });
        await count();
        const lease = await semaphore.tryAcquire({ permits: 2 });
        await lease!.release();
        expect(sent()).toEqual(['evalsha', 'evalsha']);
      },
    );

    it('receives two scripts for an acquire and a release of permits without owners', async () => {
      const semaphore = (await connect()).plainSemaphore(key);
      await semaphore.trySetPermits(3);
      await semaphore.using(() => {});
      await count();
      await semaphore.using(() => {});
      expect(sent()).toEqual(['evalsha', 'evalsha']);
    });
  });

  describe('with ten acquires in one process that each want one of 3 permits for 50 ms', () => {
    it.each(SEMAPHORES)(
      'receives a script of each, and another whenever it is woken (%s)',
      async (_, fair) => {
        const semaphore = (await connect()).semaphore(key, { permits: 3, fair });
        await semaphore.using(() => {});
        let inside = 0;
        let most = 0;
        await count();
        const visit = async () => {
          most = Math.max(most, ++inside);
          await delay(50);
          inside -= 1;
        };
        await Promise.all(numbers(10).map(() => semaphore.using(visit)));
        expect(most).toBe(3);
        const scripts = sent().filter((name) => name === 'evalsha');
        // Ten acquire and release; seven ask again once they are subscribed, and when a permit becomes free.
        expect(scripts.length).toBeLessThanOrEqual(10 + 10 + 7 + 10);
        const others = sent().filter((name) => name !== 'evalsha');
        expect(others.length).toBeLessThanOrEqual(4 + 7 + 7); // a connection and its subscriptions
      },
    );
  });

  describe.each(SEMAPHORES)('with 100 waiters for a %s', (_, fair) => {
    it('receives nothing for a while but renewals and, if fair, attempts of the first waiter', async () => {
      const holder = (await connect()).semaphore(key, { permits: 3, fair });
      const leases = [await holder.acquire(), await holder.acquire({ permits: 2 })];
      const abort = new AbortController();
      const client = await connect();
      let contended = 0;
      client.on('contended', () => (contended += 1));
      const semaphore = client.semaphore(key, { permits: 3, fair });
      const waiting = numbers(100).map(() => semaphore.acquire({ signal: abort.signal }));
      const ends = Promise.allSettled(waiting);
      await eventually('all wait', () => contended === 100);
      const asked = leases.length + (fair ? 2 * WAITERS_ON_SERVER : 100 + 1); // those that are subscribed ask again
      await eventually('they listen', () => scriptsOf(key) >= asked);
      await calm(() => proxy().commands.length);

      const from = performance.now();
      await count();
      await eventually('the time is over', () => performance.now() - from >= IDLE);
      const others = commands().filter((command) => !isRenewal(command));
      const looks = others.filter(([, sha1]) => sha1 === permitAcquire.sha1);
      expect(others).toEqual(looks);
      expect(looks.length).toBeLessThanOrEqual(fair ? IDLE / 1_000 : 0);
      expect(leases.map(({ isHeld }) => isHeld)).toEqual([true, true]);

      abort.abort();
      await Promise.all(leases.map((lease) => lease.release()));
      expect((await ends).map(({ status }) => status)).toEqual(numbers(100).map(() => 'rejected'));
    });
  });

  it('is asked for permits without owners only by the first waiter of a process', async () => {
    const semaphore = (await connect()).plainSemaphore(key);
    await semaphore.trySetPermits(1);
    await semaphore.using(() => {});
    await count();
    await Promise.all(numbers(100).map(() => semaphore.using(() => {})));
    // Each asks at most twice before it has the permit, once more after it has subscribed, and releases it.
    const scripts = sent().filter((name) => name === 'evalsha');
    expect(scripts.length).toBeLessThanOrEqual(100 * 5);
  });
});

const url = () => `redis://${proxy().host}:${proxy().port}`;

const connect = (watchdogTimeout?: number): Promise<RedisLockClient> =>
  connected({ connect: url(), watchdogTimeout });

/** Restarts the count. */
async function count(): Promise<void> {
  await server().command('CONFIG', 'RESETSTAT');
  countedFrom = proxy().commands.length;
}

/** The names of the commands that clients have sent since then. */
const sent = (): string[] => commands().map(([name]) => name!.toLowerCase());

const commands = () => proxy().commands.slice(countedFrom);

const isRenewal = ([, script]: readonly string[]) =>
  script === lockRenew.sha1 || script === lockRenew.source; // which the server may not know yet

/** How many scripts were sent for that key since the proxy started. */
function scriptsOf(name: string): number {
  return proxy().commands.filter(([command, , , on]) => command === 'evalsha' && on === name)
    .length;
}

async function info(section: string): Promise<string> {
  return String(await server().command('INFO', section));
}

const numbers = (length: number) => Array.from({ length }, (_, i) => i);

/** How many commands the server has executed, including those inside scripts, by its own count. */
async function carriedOut(): Promise<number> {
  const stats = await info('commandstats');
  const ours = [...stats.matchAll(/^cmdstat_(?!info|config)\S+:calls=(\d+)/gm)];
  return ours.reduce((sum, [, calls]) => sum + Number(calls), 0);
}

async function all(programs: readonly Program[], news: string): Promise<void> {
  await Promise.all(
    programs.map(async (program) => {
      while ((await program.next()) !== news);
    }),
  );
}
