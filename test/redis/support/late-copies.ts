import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import { MultiLease } from '../../../lib/core/internal/multi-lease.js';
import type { Lease } from '../../../lib/core/lease.js';
import type { AcquireOptions } from '../../../lib/core/lock.js';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';
import { RedisLease } from '../../../lib/redis/locks/redis-lease.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../../lib/redis/redis-options.js';
import { eventually } from '../../support/time.js';
import { type CommandFilter, type LateCopy, RedisProxy } from '../../support/redis-proxy.js';
import { RedisServer } from '../../support/redis-server.js';

/** What everything with leases has in common. */
export interface Leased {
  acquire(options?: AcquireOptions & { readonly lease?: number }): Promise<Lease>;
  tryAcquire(options?: AcquireOptions): Promise<Lease | undefined>;
}

type Of = (client: RedisLockClient, key: string) => Leased;
type Kind = readonly [name: string, of: Of, rival: Of];

const kind = (name: string, of: Of, rival = of): Kind => [name, of, rival];

/** Each kind with one that it excludes. */
export const SINGLE_KINDS: readonly Kind[] = [
  kind('mutex', (client, key) => client.mutex(key)),
  kind('fenced mutex', (client, key) => client.mutex(key, { fenced: true })),
  kind('fair mutex', (client, key) => client.mutex(key, { fair: true })),
  kind('spin lock', (client, key) => client.spinLock(key)),
  kind(
    'read lock',
    (client, key) => client.readWriteLock(key).readLock(),
    (client, key) => client.readWriteLock(key).writeLock(),
  ),
  kind('write lock', (client, key) => client.readWriteLock(key).writeLock()),
  kind(
    'preferred write lock',
    (client, key) => client.readWriteLock(key, { preferWriters: true }).writeLock(),
    (client, key) => client.readWriteLock(key, { preferWriters: true }).readLock(),
  ),
  kind('semaphore', (client, key) => client.semaphore(key, { permits: 1 })),
  kind('fair semaphore', (client, key) => client.semaphore(key, { permits: 1, fair: true })),
];

/** The same, and several mutexes that are acquired with one script. */
export const KINDS: readonly Kind[] = [
  ...SINGLE_KINDS,
  kind(
    'multi-lock',
    (client, key) => client.multiLock([client.mutex(key), client.mutex(`${key} too`)]),
    (client, key) => client.mutex(key),
  ),
];

/** The leases on the server that a lease consists of. */
export function partsOf(lease: Lease): RedisLease[] {
  const parts = lease instanceof MultiLease ? lease.leases : [lease];
  return parts.filter((part) => part instanceof RedisLease);
}

export async function extend(lease: Lease, ms: number): Promise<void> {
  await Promise.all(partsOf(lease).map((part) => part.extend(ms)));
}

/** From here on the server knows the scripts of that kind by their digests: a copy that it rejects would prove nothing. */
export async function warm(of: Of, client: RedisLockClient): Promise<void> {
  const lease = await of(client, randomUUID()).acquire();
  await extend(lease, 60_000);
  await lease.release();
}

/** Keys that may be left of a free lock: records that identify late copies, and counters. */
const KEPT =
  /^(redisson_lock_token|interlock_permits|interlock_requests?|interlock_gone|interlock_extended):/;

/** Stage of each test: a server, a client behind a proxy that delays copies, and clients with a direct connection. */
export class LateCopiesStage {
  /** The key of this test. */
  key = '';
  /** The client behind the proxy. */
  mine!: RedisLockClient;
  theirs!: RedisLockClient;
  proxy!: RedisProxy;
  readonly #clients: RedisLockClient[] = [];

  private constructor(readonly server: RedisServer) {}

  static async start(): Promise<LateCopiesStage> {
    return new LateCopiesStage(await RedisServer.start());
  }

  async reset(options: Partial<RedisLockOptions>): Promise<void> {
    await this.server.command('FLUSHALL');
    this.key = randomUUID();
    this.proxy = await RedisProxy.start(this.server);
    [this.mine, this.theirs] = await Promise.all([
      this.client(this.proxy.port, options),
      this.client(this.server.port),
    ]);
  }

  /** Returns a connected client of that port. */
  async client(port: number, options: Partial<RedisLockOptions> = {}): Promise<RedisLockClient> {
    const { host } = this.server;
    const connect = { host, port, retryStrategy: () => 20, disconnectTimeout: 0 };
    const client = await createRedisLockClient('test', { connect, ...options });
    this.#clients.push(client);
    await client.connect();
    return client;
  }

  /** Whether it is a script for this test's key. */
  readonly isScript: CommandFilter = ([name, ...args]) =>
    /^eval/i.test(name!) && args.some((arg) => arg.includes(this.key));

  /**
   * Runs an action of which the first script is held up until the connection is given up. Resolves to its result, obtained by
   * what was sent again, and the first copy, which is still under way.
   */
  async late<T>(work: () => Promise<T>, isMeant = this.isScript): Promise<[T, LateCopy]> {
    const copy = this.proxy.strand(isMeant);
    const working = work();
    working.catch(() => {}); // awaited below
    await eventually('it is under way', () => copy.count);
    copy.giveUp();
    return [await this.settled(working), copy];
  }

  /**
   * Runs an action of which the first script is executed, but not answered before its connection is given up. Resolves as
   * `late`.
   */
  async unanswered<T>(work: () => Promise<T>, isMeant = this.isScript): Promise<[T, LateCopy]> {
    const copy = this.proxy.replay(isMeant);
    const loss = this.proxy.loseReply((command) => isMeant(command) && loss.lost === 0);
    const done = await this.settled(work());
    expect(loss.lost).toBe(1);
    return [done, copy];
  }

  /** Runs an action of which the first script is answered, and then gives its connection up. Resolves as `late`. */
  async replayed<T>(work: () => Promise<T>, isMeant = this.isScript): Promise<[T, LateCopy]> {
    const copy = this.proxy.replay(isMeant);
    const done = await this.settled(work());
    copy.giveUp();
    return [done, copy];
  }

  /** The copy of a renewal of all that the client holds, which it sends after it has reconnected. */
  async lateRenewal(isMeant = this.isScript): Promise<LateCopy> {
    const [, copy] = await this.late(async () => this.proxy.cut(), isMeant);
    return copy;
  }

  /** Lets the copy arrive. */
  async arrive(copy: LateCopy): Promise<void> {
    const replies = await copy.deliver();
    expect(replies.map(String)).not.toContainEqual(expect.stringMatching(/^NOSCRIPT/)); // otherwise it would have had no effect
  }

  /** All keys of this test. */
  async keys(): Promise<string[]> {
    return ((await this.server.command('KEYS', `*${this.key}*`)) as string[]).sort();
  }

  /** The keys that mark copies of an acquire as late. */
  async tombstones(): Promise<string[]> {
    return (await this.keys()).filter((name) => name.startsWith('interlock_gone:'));
  }

  /** The keys of a lock that is held or waited for; of a semaphore those of its permits. */
  async left(): Promise<string[]> {
    const keys = (await this.keys()).filter((name) => !KEPT.test(name));
    const types = await Promise.all(keys.map((name) => this.server.command('TYPE', name)));
    return keys.filter((name, i) => name !== this.key || types[i] !== 'string');
  }

  /** Remaining time in ms, on the server, of the lock or permit that expires first. */
  async leaseLeft(key = this.key): Promise<number> {
    const { server } = this;
    const permits = `{${key}}:timeout`;
    if (await server.command('EXISTS', permits)) {
      const [, end] = (await server.command('ZRANGE', permits, 0, 0, 'WITHSCORES')) as string[];
      const [s, us] = (await server.command('TIME')) as [string, string];
      return Number(end) - Number(s) * 1_000 - Math.floor(Number(us) / 1_000);
    }
    const isLease = (name: string) =>
      name.startsWith(key) || (name.startsWith(`{${key}}:`) && name.includes(':rwlock_timeout:'));
    const names = (await this.keys()).filter(isLease);
    const left = await Promise.all(names.map((name) => server.command('PTTL', name)));
    return Math.min(...(left as number[]));
  }

  /** Resolves as the work does, once what the client has sent after it has arrived too. */
  private async settled<T>(work: Promise<T>): Promise<T> {
    const done = await work;
    await this.mine.ping(10_000);
    return done;
  }

  async clear(): Promise<void> {
    await Promise.all(this.#clients.splice(0).map((client) => client.close()));
    await this.proxy.stop();
  }

  async stop(): Promise<void> {
    await this.server.stop();
  }
}

/** Starts the server for the tests of the surrounding `describe`; every test finds it empty. */
export function onLateCopies(options: Partial<RedisLockOptions> = {}): () => LateCopiesStage {
  let stage: LateCopiesStage;

  beforeAll(async () => {
    stage = await LateCopiesStage.start();
  });
  afterAll(() => stage.stop());
  beforeEach(() => stage.reset(options));
  afterEach(() => stage.clear());

  return () => stage;
}
