import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { lockRenew, permitAcquire } from '../../lib/redis/scripts/index.js';
import { WAITERS_ON_SERVER } from '../../lib/redis/locks/local-queue.js';
import { calm } from '../support/calm.js';
import { eventually } from '../support/eventually.js';
import { RedisProxy } from '../support/redis-proxy.js';
import { RedisServer } from '../support/redis-server.js';

const IDLE = 5_000;

const KINDS = [
  ['semaphore', false],
  ['fair semaphore', true],
] as const;

describe('Redis, sent no more commands for permits than needed,', () => {
  const clients: RedisLockClient[] = [];
  let server: RedisServer;
  let proxy: RedisProxy;
  let countedFrom = 0;

  beforeAll(async () => {
    server = await RedisServer.start();
    proxy = await RedisProxy.start(server);
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await proxy.stop();
    await server.stop();
  });

  let key = '';
  let tests = 0;
  beforeEach(() => {
    key = `semaphore-${++tests}`;
  });

  describe('without contention', () => {
    it.each(KINDS)('receives two scripts for an acquire and a release (%s)', async (_, fair) => {
      const semaphore = (await connect()).semaphore(key, { permits: 3, fair });
      await semaphore.using(() => {}); // the server does not know the scripts before this
      for (const permits of [1, 3]) {
        count();
        await (await semaphore.acquire({ permits })).release();
        expect(sent()).toEqual(['evalsha', 'evalsha']);
      }
    });

    it.each(KINDS)('receives two scripts for a tryAcquire and a release (%s)', async (_, fair) => {
      const semaphore = (await connect()).semaphore(key, { permits: 3, fair });
      count();
      const lease = await semaphore.tryAcquire({ permits: 2 });
      await lease!.release();
      expect(sent()).toEqual(['evalsha', 'evalsha']);
    });

    it('receives two scripts for an acquire and a release of permits without owners', async () => {
      const semaphore = (await connect()).plainSemaphore(key);
      await semaphore.trySetPermits(3);
      await semaphore.using(() => {});
      count();
      await semaphore.using(() => {});
      expect(sent()).toEqual(['evalsha', 'evalsha']);
    });
  });

  describe('with ten acquires in one process that each want one of 3 permits for 50 ms', () => {
    it.each(KINDS)(
      'receives a script of each, and another whenever it is woken (%s)',
      async (_, fair) => {
        const semaphore = (await connect()).semaphore(key, { permits: 3, fair });
        await semaphore.using(() => {});
        let inside = 0;
        let most = 0;
        count();
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

  describe.each(KINDS)('with 100 waiters for a %s', (_, fair) => {
    it('receives nothing in five seconds but renewals and, if fair, attempts of the first waiter', async () => {
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
      await calm(() => proxy.commands.length);

      const from = performance.now();
      count();
      await eventually('the time is over', () => performance.now() - from >= IDLE);
      const commands = proxy.commands.slice(countedFrom).filter(([, sha1]) => !isRenewal(sha1));
      const looks = commands.filter(([, sha1]) => sha1 === permitAcquire.sha1);
      expect(commands).toEqual(looks);
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
    count();
    await Promise.all(numbers(100).map(() => semaphore.using(() => {})));
    // Each asks at most twice before it has the permit, once more after it has subscribed, and releases it.
    const scripts = sent().filter((name) => name === 'evalsha');
    expect(scripts.length).toBeLessThanOrEqual(100 * 5);
  });

  async function connect(): Promise<RedisLockClient> {
    const connect = `redis://${proxy.host}:${proxy.port}`;
    const client = await createRedisLockClient('test', { connect });
    clients.push(client);
    await client.connect();
    return client;
  }

  /** Restarts the count. */
  function count(): void {
    countedFrom = proxy.commands.length;
  }

  /** The names of the commands that clients have sent. */
  function sent(): string[] {
    return proxy.commands.slice(countedFrom).map(([name]) => name!.toLowerCase());
  }

  /** How many scripts were sent for that semaphore since the proxy started. */
  function scriptsOf(semaphore: string): number {
    return proxy.commands.filter(([name, , , on]) => name === 'evalsha' && on === semaphore).length;
  }
});

function isRenewal(script: string | undefined): boolean {
  return script === lockRenew.sha1 || script === lockRenew.source; // which the server may not know yet
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}
