import { Cluster, Redis } from 'ioredis';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisAcquireOptions, RedisLease } from '../../lib/redis/locks/redis-lease.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../lib/redis/redis-options.js';
import { CommandLog } from '../interop/support/command-log.js';
import type { RedisDeployment } from '../interop/support/redis-deployment.js';
import { redisNames } from '../interop/support/redis-names.js';
import { asOwn } from '../support/as-own.js';
import { eventually } from '../support/eventually.js';
import { sinceRedis } from '../support/redis-version.js';
import { FOR_LATE_COPIES } from '../support/kept-keys.js';

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
    const own = options.client && { client: asOwn(options.client) };
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

/** Otherwise a client that is disconnected without a connection keeps the process alive for two seconds. */
const AT_ONCE = { disconnectTimeout: 0 };
