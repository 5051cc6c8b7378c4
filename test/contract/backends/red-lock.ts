import type { Redis } from 'ioredis';
import type { Lease } from '../../../lib/core/lease.js';
import type { AcquireOptions, Lock, Mutex } from '../../../lib/core/lock.js';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';
import { createRedLockClient } from '../../../lib/redis/red-lock/create-red-lock-client.js';
import type { RedLockClient } from '../../../lib/redis/red-lock/red-lock-client.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { asOwn, KEPT, type RedisServer } from '../../support/redis-server.js';
import { eventually } from '../../support/time.js';
import { CommandRecord, forgetScript, onMessages } from './redis-records.js';
import { isUp } from './redis.js';
import {
  type LockStage,
  nextKey,
  queueFor,
  type StageClient,
  type StageClientOptions,
} from './stage.js';

/** Every channel of a lock. */
const CHANNELS = 'redisson_*';
/** A line of `CLIENT LIST` of a client that listens to something. */
const LISTENER = /\bname=(\S+) .*\bsub=[1-9]/;

/** Independent servers, each with its share of every lock. What happens, happens to all of them. */
export class RedLockStage implements LockStage {
  readonly recipe = { client: 'contract' };
  mine!: RedLockStageClient;
  theirs!: RedLockStageClient;
  #key = '';
  #made = 0;
  readonly #clients = new Set<RedLockStageClient>();

  private constructor(
    readonly servers: readonly RedisServer[],
    private readonly kind: RedLockKind,
    private readonly observers: readonly Redis[],
    /** Of each server a client that knows no others. */
    readonly strangers: readonly RedisLockClient[],
  ) {}

  static async build(servers: readonly RedisServer[], kind: RedLockKind): Promise<RedLockStage> {
    const strangers = await Promise.all(
      servers.map((server) => createRedisLockClient('stranger', { client: server.client() })),
    );
    await Promise.all(strangers.map((stranger) => stranger.connect()));
    const observers = servers.map((server) => server.client());
    return new RedLockStage(servers, kind, observers, strangers);
  }

  get key(): string {
    return this.#key;
  }

  async reset(): Promise<void> {
    this.#key = nextKey();
    const both = await Promise.all([this.client(), this.client()]);
    [this.mine, this.theirs] = both;
    await eventually('both are connected to all servers, not only to a majority', () =>
      both.every(({ locks }) => locks.status().health === 'up'),
    );
  }

  async client(options: StageClientOptions = {}): Promise<RedLockStageClient> {
    const connectionName = `client-${(this.#made += 1)}`;
    const nodes = this.servers.map((server) => server.client({ connectionName }));
    const client = await RedLockStageClient.connect(nodes, this.kind, options);
    this.#clients.add(client);
    return client;
  }

  async closeClients(): Promise<void> {
    await Promise.all([...this.#clients].map(({ locks }) => locks.close()));
    for (const { nodes } of this.#clients) for (const node of nodes) node.disconnect();
    this.#clients.clear();
  }

  async stop(): Promise<void> {
    await Promise.all(this.strangers.map((stranger) => stranger.close()));
    for (const observer of this.observers) observer.disconnect();
  }

  queue(client: RedLockStageClient, options?: AcquireOptions): Promise<{ lease: Promise<Lease> }> {
    return this.queueFor(client.lock(this.key), client, options);
  }

  /** A client that does not stand behind another waiter of its own listens then, so that it does not notice by chance. */
  async queueFor(
    lock: Lock,
    client: RedLockStageClient,
    options?: AcquireOptions,
  ): Promise<{ lease: Promise<Lease> }> {
    const before = client.requests.length;
    const queued = await queueFor(lock, client.locks, options);
    if (client.requests.length === before) return queued;
    let isOver = false;
    const end = () => (isOver = true);
    queued.lease.then(end, end);
    await eventually('it listens', async () => {
      return isOver || (await this.#listening()).includes(client.name);
    });
    await this.caughtUp();
    return queued;
  }

  /**
   * The clients that hold it on a majority of the servers, and those that listen to one of them. A waiter behind another
   * one of its own client is known to that client only.
   */
  async contenders(): Promise<string[]> {
    const fields = await this.#ofAll<string[]>('hkeys', this.key);
    const hasIt = ({ ids }: RedLockStageClient) =>
      fields.filter((names, i) => ids[i] && names.some((name) => name.startsWith(ids[i]!)));
    const holders = [...this.#clients].filter(
      (client) => hasIt(client).length > this.servers.length / 2,
    );
    return [...holders.map(({ name }) => name), ...(await this.#listening())];
  }

  /** Every key but the counters of fencing tokens, and every channel with a listener. */
  async remains(): Promise<string[]> {
    const keys = await this.#ofAll<string[]>('keys', '*');
    const channels = await this.#channels();
    return [...keys.flat().filter((key) => !KEPT.test(key)), ...channels.flat()];
  }

  async clear(): Promise<void> {
    await this.#ofAll('flushall');
  }

  /** Every listener is made to look again: it has dealt then with all messages that came before. */
  async caughtUp(): Promise<void> {
    const received = this.#received;
    let told = 0;
    for (const [i, channels] of (await this.#channels()).entries())
      for (const channel of channels)
        told += Number(await this.observers[i]!.call('publish', channel, '0'));
    await eventually('all have heard it', () => this.#received >= received + told);
    for (let look = 0; look < 3; look++)
      // answered behind the looks of its waiters
      await Promise.all(this.#nodes.map((node) => node.exists(this.key)));
  }

  async expire(client: RedLockStageClient): Promise<void> {
    await Promise.all(
      client.ids.map(async (id, i) => id && this.observers[i]!.call('eval', forgetScript, 0, id)),
    );
    this.makeSure(client);
    await eventually(
      'it knows, and is connected',
      () => client.held === 0 && client.nodes.every(isUp),
    );
    await this.#ofAll('client', 'kill', 'type', 'pubsub'); // the waiters look again
  }

  /** By the command of operators. */
  async evict(): Promise<void> {
    await Promise.all(this.strangers.map((stranger) => stranger.mutex(this.key).forceUnlock()));
  }

  /** It does when it is connected anew. */
  makeSure({ nodes }: RedLockStageClient): void {
    for (const node of nodes) node.disconnect(true);
  }

  async forbidRemoval(): Promise<void> {
    await this.#ofAll('acl', 'setuser', 'default', '-del');
  }

  async permitRemoval(): Promise<void> {
    await this.#ofAll('acl', 'setuser', 'default', '+del');
    await this.clear(); // else what could not be removed stays until its lease is over
  }

  async down(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill()));
    await eventually('no client is connected', () => !this.#all.some(isUp));
  }

  async up(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.restart()));
    await eventually(
      'everybody is connected again',
      async () => {
        await Promise.all(this.#all.map((redis) => redis.exists(this.key)));
        return true;
      },
      { within: 20_000 },
    );
  }

  freeze(): void {
    for (const server of this.servers) server.freeze();
  }

  thaw(): void {
    for (const server of this.servers) server.thaw();
  }

  /** The connections of the clients of this test. */
  get #nodes(): Redis[] {
    return [...this.#clients].flatMap(({ nodes }) => nodes);
  }

  get #all(): Redis[] {
    return [...this.observers, ...this.#nodes];
  }

  /** How many messages have come in, of all clients. */
  get #received(): number {
    return [...this.#clients].reduce((sum, { received }) => sum + received, 0);
  }

  /** The answers of all servers. */
  async #ofAll<T>(...command: [string, ...(string | number)[]]): Promise<T[]> {
    return Promise.all(this.observers.map((observer) => observer.call(...command) as Promise<T>));
  }

  /** The channels with listeners, of each server. */
  #channels(): Promise<string[][]> {
    return this.#ofAll('pubsub', 'channels', CHANNELS);
  }

  /** The clients that listen to something, on whatever server. */
  async #listening(): Promise<string[]> {
    const lists = await this.#ofAll<string>('client', 'list', 'type', 'pubsub');
    const names = lists.flatMap((list) => list.split('\n')).map((line) => LISTENER.exec(line)?.[1]);
    return [...new Set(names)].filter((name) => name !== undefined);
  }
}

/** In milliseconds. The lease is longer than any test, and no stall of this machine is taken for a server that is away. */
const TIMES = { watchdogTimeout: 90_000, nodeTimeout: 5_000 };

/** Which of its locks a suite is about. */
export type RedLockKind = 'mutex' | 'semaphoreMutex';

/** A RedLock client, with an ioredis client of its own for each server, whose commands are written down. */
export class RedLockStageClient implements StageClient {
  #held = 0;
  #received = 0;

  private constructor(
    readonly nodes: readonly Redis[],
    readonly locks: RedLockClient,
    private readonly kind: RedLockKind,
    private readonly records: readonly CommandRecord[],
  ) {
    locks.on('acquired', () => (this.#held += 1));
    locks.on('released', () => (this.#held -= 1));
    locks.on('lost', () => (this.#held -= 1));
    for (const node of nodes) onMessages(node, () => (this.#received += 1));
  }

  static async connect(
    nodes: readonly Redis[],
    kind: RedLockKind,
    { wait = 'forever', namespace = '', ...limits }: StageClientOptions,
  ): Promise<RedLockStageClient> {
    const records = nodes.map((node) => new CommandRecord(node));
    const options = { nodes: nodes.map(asOwn), ...TIMES, prefix: namespace, wait, ...limits };
    const locks = await createRedLockClient('contract', options);
    const client = new RedLockStageClient(nodes, locks, kind, records);
    await locks.connect();
    return client;
  }

  /** Its name on the servers. */
  get name(): string {
    return this.nodes[0]!.options.connectionName!;
  }

  get requests(): CommandRecord['requests'] {
    return this.records.flatMap(({ requests }) => requests);
  }

  /** What the names of its owners begin with, on each server; none before the first. */
  get ids(): readonly (string | undefined)[] {
    return this.records.map(({ owner }) => owner);
  }

  /** How many locks it holds, as far as it knows. */
  get held(): number {
    return this.#held;
  }

  /** How many messages have come in. */
  get received(): number {
    return this.#received;
  }

  lock(key: string): Mutex {
    return this.locks[this.kind](key);
  }

  half(_: 'read' | 'write', key: string): never {
    return this.locks.readWriteLock(key);
  }

  readLock(key: string): never {
    return this.locks.readWriteLock(key);
  }

  writeLock(key: string): never {
    return this.locks.readWriteLock(key);
  }
}
