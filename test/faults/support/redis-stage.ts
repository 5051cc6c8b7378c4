import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import type { Cluster, Redis, RedisOptions } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { LockLostError } from '../../../lib/core/errors/index.js';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';
import type { RedisLease } from '../../../lib/redis/locks/redis-lease.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../../lib/redis/redis-options.js';
import type { RedisPermitOptions } from '../../../lib/redis/semaphores/redis-permit-expirable-semaphore.js';
import { eventually } from '../../support/time.js';
import { RedisProxy } from '../../support/redis-proxy.js';
import { RedisServer } from '../../support/redis-server.js';
import { lossOf } from './leases.js';
import type { Kind } from './redis-kinds.js';

type ClientOptions = Omit<RedisLockOptions, 'client'>;

/** The lock clients of one test. */
export class RedisLockClients {
  private readonly opened: RedisLockClient[] = [];

  /** A client on that ioredis client, connected. */
  async on(client: Redis | Cluster, options: ClientOptions = {}): Promise<RedisLockClient> {
    return this.with({ client, ...options });
  }

  /** A client with these options, connected. */
  async with(options: RedisLockOptions): Promise<RedisLockClient> {
    const locks = await createRedisLockClient('test', options);
    this.opened.push(locks);
    await locks.connect();
    return locks;
  }

  /** Closes those that there are. */
  async close(): Promise<void> {
    await Promise.all(this.opened.splice(0).map((locks) => locks.close()));
  }
}

/** A Redis server that all tests share, and what each of them has for itself: an empty database, a key, a proxy, clients. */
export class RedisStage {
  key = '';
  server!: RedisServer;
  /** A client of the server, to look at it. */
  redis!: Redis;
  proxy!: RedisProxy;
  readonly clients = new RedisLockClients();
  readonly #connections: Redis[] = [];

  /** An ioredis client, which is disconnected after the test: else it goes on trying to reach its proxy. */
  client(options?: RedisOptions): Redis {
    const client = this.server.client(options);
    this.#connections.push(client);
    return client;
  }

  /** A lock client with a connection of its own, straight to the server. */
  near(options?: ClientOptions): Promise<RedisLockClient> {
    return this.clients.on(this.client(), options);
  }

  /** One whose connections go through the proxy. */
  far(options?: ClientOptions, redisOptions: RedisOptions = {}): Promise<RedisLockClient> {
    const { port } = this.proxy;
    const client = this.client({ port, retryStrategy: () => 5, ...redisOptions });
    return this.clients.on(client, options);
  }

  /** Ends what the test has opened. */
  async clear(): Promise<void> {
    await this.clients.close();
    for (const client of this.#connections.splice(0)) client.disconnect();
    await this.proxy.stop();
  }

  /** Kills the server and starts it again without its data. */
  async forget(): Promise<void> {
    await this.server.kill();
    await this.server.restart();
  }

  /** Waits until the server knows of so many subscriptions. */
  async subscribed(count: number): Promise<void> {
    await eventually('all listen', async () => {
      const channels = (await this.redis.pubsub('CHANNELS')) as string[];
      const answer = await this.redis.pubsub('NUMSUB', ...channels);
      const counts = answer.filter((_, i) => i % 2 === 1).map(Number);
      return counts.reduce((sum, n) => sum + n, 0) === count;
    });
  }
}

/** Starts the server for the tests of the surrounding `describe` or file. */
export function useRedisStage(): RedisStage {
  const stage = new RedisStage();
  beforeAll(async () => {
    stage.server = await RedisServer.start();
    stage.redis = stage.server.client();
  });
  afterAll(() => stage.server.stop());
  beforeEach(async () => {
    stage.key = randomUUID();
    await stage.redis.flushall();
    stage.proxy = await RedisProxy.start(stage.server);
  });
  afterEach(async () => {
    stage.server.thaw();
    if (!stage.server.running) await stage.server.restart();
    stage.proxy.resume();
    await stage.clear();
  });
  return stage;
}

/** A lease of one kind, among those of other kinds that the same accident strikes. */
export interface Held {
  readonly name: string;
  readonly kind: Kind;
  readonly key: string;
  readonly lease: RedisLease;
}

/** Takes one of each kind at the same time, each with a key that begins with that prefix. */
export function holdAll(
  kinds: readonly Kind[],
  locks: RedisLockClient,
  prefix: string,
  options?: RedisPermitOptions,
): Promise<Held[]> {
  return Promise.all(
    kinds.map(async (kind) => {
      const key = `${prefix} ${kind.name}`;
      return { name: kind.name, kind, key, lease: await kind.of(locks, key).acquire(options) };
    }),
  );
}

/** Waits until it is true of all, and says of which kinds it is not. */
async function untilNone(what: string, left: () => readonly Held[]): Promise<void> {
  const isNone = () => {
    const names = left().map(({ name }) => name);
    if (names.length > 0) throw new Error(`not yet: ${names.join(', ')}`);
    return true;
  };
  await eventually(what, isNone, { within: 20_000 });
}

/** The same of another client, while all of them are taken: call what it returns to wait until all are granted. */
export async function queueForAll(held: readonly Held[], locks: RedisLockClient) {
  const contended = new Set<string>();
  const stop = locks.on('contended', ({ key }) => void contended.add(key));
  const granted: (Held & { readonly at: number })[] = [];
  for (const before of held) {
    const acquired = before.kind.of(locks, before.key).acquire();
    void acquired.then((lease) => granted.push({ ...before, lease, at: performance.now() }));
  }
  await eventually('all wait', () => contended.size === held.length);
  stop();
  const waiting = () => held.filter(({ key }) => !granted.some((each) => each.key === key));
  return async () => {
    await untilNone('all are granted', waiting);
    return granted;
  };
}

export const releaseAll = (held: readonly Held[]) =>
  Promise.all(held.map(({ lease }) => lease.release()));

/** None of them is lost, nor told to be. */
export function expectHeld(held: readonly Held[]): void {
  const lost = held.filter(({ lease }) => !lease.isHeld || lease.signal.aborted);
  expect(lost.map(({ name }) => name)).toEqual([]);
}

/** All of them are lost, say so in every way, and tell why. */
export function expectLost(held: readonly Held[], why: string): void {
  const told = held.map(({ name, lease }) => {
    const { isHeld, signal } = lease;
    const isTold = signal.reason instanceof LockLostError;
    let message = '';
    try {
      lease.assertHeld();
    } catch (error) {
      message = String(error);
    }
    return { name, isHeld, isTold, remaining: lease.remaining(), says: message.includes(why) };
  });
  expect(told).toEqual(
    held.map(({ name }) => ({ name, isHeld: false, isTold: true, remaining: 0, says: true })),
  );
}

/** Resolves when all are lost, to the times of that in ms since 1970. */
export async function lossesOf(held: readonly Held[]): Promise<number[]> {
  const losses = Promise.all(held.map(({ lease }) => lossOf(lease)));
  await untilNone('all are lost', () => held.filter(({ lease }) => !lease.signal.aborted));
  return losses;
}
