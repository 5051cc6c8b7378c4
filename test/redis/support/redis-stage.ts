import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  expect,
  it as everywhere,
} from '@jest/globals';
import { once } from 'node:events';
import { Cluster, Redis } from 'ioredis';
import type { Lease } from '../../../lib/core/lease.js';
import type { RedisClient } from '../../../lib/redis/connection/ioredis.js';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';
import type { RedisAcquireOptions, RedisLease } from '../../../lib/redis/locks/redis-lease.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../../lib/redis/redis-options.js';
import { Program } from '../../faults/support/program.js';
import {
  CommandLog,
  type RedisDeployment,
  type RedisDeploymentKind,
  redisNames,
  startRedisDeployment,
} from '../../interop/support/redis-deployment.js';
import { asOwn, FOR_LATE_COPIES, sinceRedis } from '../../support/redis-server.js';
import { eventually } from '../../support/time.js';
import { tier } from '../../support/tier.js';

/** A lock, as far as its waiters are concerned. */
interface Acquirable {
  readonly key: string;
  acquire(options?: RedisAcquireOptions): Promise<RedisLease>;
}

/** Stage of each test: an unused key, two clients that contend for it, and foreign connections to the servers. */
export class RedisStage {
  mine!: RedisLockClient;
  theirs!: RedisLockClient;
  #tests = 0;
  readonly #clients = new Set<RedisLockClient>();
  readonly #connections = new Set<Redis | Cluster>();
  readonly #logs = new Set<CommandLog>();

  constructor(readonly deployment: RedisDeployment) {}

  get isCluster(): boolean {
    return this.deployment.kind === 'cluster';
  }

  /** The command that publishes the messages of locks. */
  get publish(): 'PUBLISH' | 'SPUBLISH' {
    return this.isCluster ? 'SPUBLISH' : 'PUBLISH';
  }

  /** The key of this test; no other one contains it. */
  get key(): string {
    return `key-${String(this.#tests).padStart(3, '0')}`;
  }

  /** Its keys and channels, under Redisson's names. */
  get names() {
    return redisNames(this.key);
  }

  /** Prepares the next test. */
  async reset(): Promise<void> {
    this.#tests += 1;
    [this.mine, this.theirs] = await Promise.all([this.client(), this.client()]);
  }

  /** A connected client. It sends its commands through the `client` of the options, if given. */
  async client(options: Partial<RedisLockOptions> = {}): Promise<RedisLockClient> {
    const own = options.client && { client: asOwn(options.client as RedisClient) };
    const source = own ? {} : this.#address;
    const client = await createRedisLockClient('test', { ...source, ...options, ...own });
    this.#clients.add(client);
    await client.connect();
    return client;
  }

  /** A user's connection. */
  connection(): Redis | Cluster {
    const [node] = this.#nodes;
    const connection = this.isCluster
      ? new Cluster(this.#nodes, { redisOptions: AT_ONCE })
      : new Redis({ ...node, ...AT_ONCE });
    connection.on('error', () => {}); // commands report it; without a listener each one is printed
    this.#connections.add(connection);
    return connection;
  }

  /** A client that has a connection to each master; and what cuts all of them: it resolves when the client is connected again. */
  async clientToInterrupt(options: Partial<RedisLockOptions> = {}) {
    const connection = this.connection();
    const client = await this.client({ ...options, client: connection });
    const nodes = connection instanceof Cluster ? connection.nodes('master') : [connection];
    await Promise.all(nodes.map((node) => node.ping()));
    const interrupt = async () => {
      const closed = Promise.all(nodes.map((node) => once(node, 'close')));
      await this.commands('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await closed;
      await client.ping();
    };
    return { client, interrupt };
  }

  /** Has the server of this test's key execute a command. */
  async command(name: string, ...args: (string | number)[]): Promise<unknown> {
    return (await this.deployment.masterOf(this.key)).command(name, ...args);
  }

  /** The same on every master. */
  async commands(name: string, ...args: (string | number)[]): Promise<unknown[]> {
    const masters = await this.deployment.masters();
    return Promise.all(masters.map((server) => server.command(name, ...args)));
  }

  /** The fields of a hash. */
  async fields(hash: string): Promise<Record<string, string>> {
    const flat = (await this.command('HGETALL', hash)) as string[];
    const pairs = flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1]!]] : []));
    return Object.fromEntries(pairs) as Record<string, string>;
  }

  /** All keys with that text in their names, except the records that identify late copies. */
  async keys(part = this.key): Promise<string[]> {
    const found = (await this.commands('KEYS', `*${part}*`)) as string[][];
    return found
      .flat()
      .filter((name) => !FOR_LATE_COPIES.test(name))
      .sort();
  }

  /** From now on, what the server of this test's key executes. */
  async log(): Promise<CommandLog> {
    const log = await CommandLog.open(await this.deployment.masterOf(this.key));
    this.#logs.add(log);
    return log;
  }

  /** Has that client wait for the lock; resolves when it does, with the pending lease. */
  async queue(
    client: RedisLockClient,
    lock: Acquirable = client.mutex(this.key),
    options?: RedisAcquireOptions,
  ): Promise<{ lease: Promise<RedisLease> }> {
    const contended = new Promise<void>((resolve) => {
      const stop = client.on('contended', ({ key }) => {
        if (key !== lock.key) return;
        stop();
        resolve();
      });
    });
    const lease = lock.acquire(options);
    lease.catch(() => {}); // awaited by the test later
    await Promise.race([contended, lease]);
    return { lease };
  }

  /** Resolves once that many processes are subscribed to that channel. */
  async listening(channel: string, count = 1): Promise<void> {
    const ask = this.#isSharded ? 'SHARDNUMSUB' : 'NUMSUB';
    await eventually(`${count} listen to ${channel}`, async () => {
      const [, there] = (await this.command('PUBSUB', ask, channel)) as [string, number];
      return there === count;
    });
  }

  /** Resolves once somebody listens to a channel of this test's lock. */
  async asleep(): Promise<void> {
    const ask = this.#isSharded ? 'SHARDCHANNELS' : 'CHANNELS';
    await eventually('it is listened to', async () => {
      const channels = await this.command('PUBSUB', ask, `redisson*${this.key}*`);
      return (channels as string[]).length > 0;
    });
  }

  /** Resolves once neither a lock nor a subscription is left; only token counters stay. */
  async isEmpty(): Promise<void> {
    const isKept = (key: string) => key.startsWith('redisson_lock_token:');
    await eventually('no key is left', async () => {
      const left = (await this.keys('')).filter((key) => !isKept(key));
      if (left.length > 0) throw new Error(left.join(' '));
      return true;
    });
    for (const channels of this.#isSharded ? ['CHANNELS', 'SHARDCHANNELS'] : ['CHANNELS'])
      await eventually('no subscription is left', async () => {
        const listened = (await this.commands('PUBSUB', channels, 'redisson*')) as string[][];
        return listened.flat().length === 0;
      });
  }

  /** Closes what the test has opened. */
  async clear(): Promise<void> {
    await Promise.all([...this.#clients].map((client) => client.close()));
    for (const connection of this.#connections) connection.disconnect();
    for (const log of this.#logs) log.close();
    for (const opened of [this.#clients, this.#connections, this.#logs]) opened.clear();
  }

  get #isSharded(): boolean {
    return this.isCluster && sinceRedis('7.0');
  }

  get #nodes(): { host: string; port: number }[] {
    return this.deployment.urls.map((url) => {
      const { hostname, port } = new URL(url);
      return { host: hostname, port: Number(port) };
    });
  }

  get #address(): RedisLockOptions {
    const [node] = this.#nodes;
    return this.isCluster
      ? { cluster: { nodes: this.#nodes, options: { redisOptions: AT_ONCE } } }
      : { connect: { ...node, ...AT_ONCE } };
  }
}

/** What a suite needs of the deployment that it runs on. */
export interface OnRedis {
  readonly kind: RedisDeploymentKind;
  readonly stage: () => RedisStage;
  /** Declares a test of what a cluster does as a standalone server does; there it belongs to the long tier. */
  readonly it: typeof everywhere;
  /** Declares a test of what a cluster may do in another way: slots, several masters, sharded channels. */
  readonly test: typeof everywhere;
}

/**
 * Starts Redis for the tests of the surrounding `describe` or file. Each test gets a key of its own and new clients, and has to
 * leave nothing behind.
 */
export function onRedis(kind: RedisDeploymentKind): OnRedis {
  let stage: RedisStage;
  beforeAll(async () => {
    stage = new RedisStage(await startRedisDeployment(kind));
  }, 60_000);
  afterAll(() => stage.deployment.stop());
  beforeEach(() => stage.reset());
  afterEach(async () => {
    await stage.clear();
    await stage.isEmpty();
  });
  const it = kind === 'cluster' && tier !== 'long' ? omit : everywhere;
  return { kind, stage: () => stage, it, test: everywhere };
}

/** Declares no test. */
const omit = Object.assign(() => {}, { each: () => () => {} }) as unknown as typeof everywhere;

/**
 * The number of permits stays when none is held, and expired permits stay until the next acquire; so both are removed after each
 * test of the surrounding `describe`. Nothing else may be left.
 */
export function removePermits(stage: () => RedisStage): void {
  afterEach(async () => {
    await stage().clear();
    const { free, timeouts, wanted } = semaphoreNames(stage().key);
    await stage().command('DEL', free, wanted);
    if ((await stage().command('TYPE', timeouts)) === 'zset')
      await stage().command('ZREMRANGEBYSCORE', timeouts, 0, Date.now());
  });
}

/** Otherwise a client that is disconnected without a connection keeps the process alive for two seconds. */
const AT_ONCE = { disconnectTimeout: 0 };

/** The keys and channels of a semaphore under a key without braces. */
export function semaphoreNames(key: string) {
  return {
    /** How many permits are free. */
    free: key,
    /** The permits that are held, with their expiry times. */
    timeouts: `{${key}}:timeout`,
    channel: `redisson_sc:{${key}}`,
    token: `redisson_lock_token:{${key}}`,
    /** The number of permits that our clients declared last. */
    wanted: `interlock_permits:{${key}}`,
    /** Our waiters in the order of arrival, and until when each is known to be alive. */
    queue: `interlock_permit_queue:{${key}}`,
    alive: `interlock_alive:{${key}}`,
    requests: `interlock_requests:{${key}}:`,
  };
}

/**
 * How often the server of this test's key has executed commands of that name since `CONFIG RESETSTAT`, also in scripts.
 *
 * @param name of the command in small letters; a pattern for several
 */
export async function commandCalls(
  server: Pick<RedisStage, 'command'>,
  name: string,
): Promise<number> {
  const stats = String(await server.command('INFO', 'commandstats'));
  const calls = stats.matchAll(new RegExp(`^cmdstat_(?:${name}):calls=(?<count>\\d+)`, 'gm'));
  return [...calls].reduce((sum, { groups }) => sum + Number(groups!.count), 0);
}

/** How many scripts a server, or that of the key of this test, has run since `CONFIG RESETSTAT`. */
export async function scriptCalls(server: Pick<RedisStage, 'command'>): Promise<number> {
  const stats = String(await server.command('INFO', 'commandstats'));
  return Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(stats)?.[1] ?? 0);
}

/** What the other process does. */
export interface LockUserOptions {
  readonly kind: 'fair' | 'read' | 'write';
  /** `watchdogTimeout` of its client, in ms. */
  readonly watchdogTimeout: number;
  /** Number of concurrent acquires. Default 1. */
  readonly count?: number;
}

/** Has another process acquire the lock of this test; resolves when each acquire was granted, or waits. */
export async function startLockUser(
  { deployment, isCluster, key }: RedisStage,
  { kind, watchdogTimeout, count = 1 }: LockUserOptions,
): Promise<Program> {
  const { urls } = deployment;
  const servers = isCluster ? { cluster: { nodes: urls } } : { connect: urls[0]! };
  const url = new URL('./programs/lock-user.ts', import.meta.url);
  const options = JSON.stringify({ ...servers, watchdogTimeout });
  const program = new Program(url, [options, key, kind, String(count)]);
  for (let n = 0; n < count; n++) await program.next();
  return program;
}

/** What all locks of Redis have in common. */
interface AnyLock {
  acquire(options?: RedisAcquireOptions): Promise<RedisLease>;
  tryAcquire(options?: RedisAcquireOptions): Promise<RedisLease | undefined>;
  using<T>(fn: () => Promise<T>, options?: RedisAcquireOptions): Promise<T>;
}

/** Every kind of lock that a client on Redis creates. */
export const RECIPES: Record<string, (client: RedisLockClient, key: string) => AnyLock> = {
  mutex: (client, key) => client.mutex(key),
  'semaphore mutex': (client, key) => client.semaphoreMutex(key),
  'fair mutex': (client, key) => client.mutex(key, { fair: true }),
  'fenced mutex': (client, key) => client.mutex(key, { fenced: true }),
  'read lock': (client, key) => client.readWriteLock(key).readLock(),
  'write lock': (client, key) => client.readWriteLock(key).writeLock(),
};

/** Expects an acquire to be granted, and a lease that is held; releases it. */
export async function isGranted(acquired: Promise<Lease | undefined>): Promise<void> {
  const lease = await acquired;
  expect(lease?.isHeld).toBe(true);
  await lease!.release();
}

/** How many are inside of something now, and how many there were at most. */
export class Visits {
  most = 0;
  done = 0;
  #inside = 0;

  /** Call it when `weight` of it is taken; `leave` when it is released. */
  enter(weight = 1): void {
    this.#inside += weight;
    this.most = Math.max(this.most, this.#inside);
  }

  leave(weight = 1): void {
    this.#inside -= weight;
    this.done += 1;
  }
}
