import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import type { LockEvents } from '../../../lib/core/lock-events.js';
import type { RedisAcquireOptions } from '../../../lib/redis/locks/redis-lease.js';
import { createRedLockClient } from '../../../lib/redis/red-lock/create-red-lock-client.js';
import type { RedLockClient } from '../../../lib/redis/red-lock/red-lock-client.js';
import type { RedLockLease } from '../../../lib/redis/red-lock/red-lock.js';
import type { RedisLockOptions } from '../../../lib/redis/redis-options.js';
import { locksLeft } from '../../faults/support/redis-kinds.js';
import { eventually } from '../../support/time.js';
import { IndependentRedisServers } from '../../support/redis-server.js';

/** Stage of each test of locks on several servers: a key of its own, and the clients that it creates. */
export class RedLockStage {
  key = '';
  readonly #clients: RedLockClient[] = [];

  constructor(readonly servers: IndependentRedisServers) {}

  /** A client of all servers, connected. */
  async client(options: Partial<RedisLockOptions> = {}): Promise<RedLockClient> {
    const client = await this.unconnected(options);
    await client.connect();
    return client;
  }

  /** The same, not connected yet. */
  async unconnected(options: Partial<RedisLockOptions> = {}): Promise<RedLockClient> {
    const client = await createRedLockClient('test', { nodes: this.servers.nodes, ...options });
    this.#clients.push(client);
    return client;
  }

  /** That many clients, connected to every server. */
  async clients(count: number, options?: Partial<RedisLockOptions>): Promise<RedLockClient[]> {
    return Promise.all(Array.from({ length: count }, () => this.client(options)));
  }

  /** The lock of this test, held on every server: on a busy machine one may answer too late for the first acquire. */
  async onAll(client: RedLockClient, options?: RedisAcquireOptions): Promise<RedLockLease> {
    return eventually('all servers have granted it', async () => {
      const lease = await client.mutex(this.key).acquire(options);
      if (await this.isOnAll()) return lease;
      return void (await lease.release());
    });
  }

  /** Whether every server soon has the lock that was just granted. */
  isOnAll(): Promise<boolean> {
    const { key, servers } = this;
    const eachHas = async () => (await servers.having(key)) === servers.all.length;
    return eventually('each has', eachHas, { within: 500 }).catch(() => false);
  }

  /** Takes the lock as a foreign client, on the servers with these numbers, for a minute. */
  async occupy(...numbers: readonly number[]): Promise<void> {
    for (const i of numbers) {
      await this.servers.all[i]!.command('HSET', this.key, 'a stranger', 1);
      await this.servers.all[i]!.command('PEXPIRE', this.key, 60_000);
    }
  }

  /** Resolves with the next such event of the client. */
  next<E extends keyof LockEvents>(client: RedLockClient, event: E): Promise<LockEvents[E]> {
    return new Promise((resolve) => {
      const stop = client.on(event, (told) => {
        stop();
        resolve(told);
      });
    });
  }

  /** Resolves once no running server has a lock. */
  async isEmpty(): Promise<void> {
    await eventually('nothing is left', async () => {
      const left = await Promise.all(this.servers.running.map(locksLeft));
      return left.flat().length === 0;
    });
  }

  async clear(): Promise<void> {
    await Promise.all(this.#clients.splice(0).map((client) => client.close()));
  }
}

/** Starts the servers for the tests of the surrounding `describe`; every test finds all of them running and empty. */
export function onRedLock(count = 5): () => RedLockStage {
  let stage: RedLockStage;

  beforeAll(async () => {
    stage = new RedLockStage(await IndependentRedisServers.start(count));
  }, 60_000);
  afterAll(() => stage.servers.stop());
  beforeEach(async () => {
    await stage.servers.restore();
    await stage.servers.commands('FLUSHALL');
    stage.key = randomUUID();
  });
  afterEach(() => stage.clear());

  return () => stage;
}
