import type { Cluster, Redis } from 'ioredis';
import type { WaiterLimits } from '../../../lib/core/internal/waiter-limits.js';
import type { Lease } from '../../../lib/core/lease.js';
import type { AcquireOptions, Lock, Mutex } from '../../../lib/core/lock.js';
import type { RedisClient, RedisNode } from '../../../lib/redis/connection/ioredis.js';
import { LockName } from '../../../lib/redis/connection/lock-name.js';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { duplicateOf } from '../../support/redis-client.js';
import { asOwn, KEPT, type RedisServer, sinceRedis } from '../../support/redis-server.js';
import { eventually } from '../../support/time.js';
import {
  CommandRecord,
  forgetPermitsScript,
  forgetScript,
  keysOfUnusedSemaphores,
  onMessages,
} from './redis-records.js';
import {
  type LockStage,
  nextKey,
  queueFor,
  type StageClient,
  type StageClientOptions,
} from './stage.js';

/** Which locks of a client on Redis a suite is about. */
export interface RedisRecipe {
  mutex(locks: RedisLockClient, key: string): Mutex;
  /** Name of the client in its errors; none where its parts may belong to several. */
  readonly client?: string;
  /** Key of the lock that all callers of the mutex begin with. Default: its own. */
  firstKey?(key: string): string;
  /** Do the waiters ask again and again, and listen to nothing? Default false. */
  readonly isSpinning?: boolean;
  /** Options of the clients. Default: none. */
  readonly limits?: WaiterLimits;
  /** Of read/write locks. Default false. */
  readonly preferWriters?: boolean;
}

/** The Redis of one suite. It remembers everything over a restart. */
export interface RedisBackend {
  /** All that hold data. */
  readonly servers: readonly RedisServer[];
  /** Another client, as users have one. */
  client(): Redis | Cluster;
  /** Another connection for a lock client. Default: that of a `client()`. */
  connection?(): RedisClient;
  /** Starts those that were killed; resolves when all is as before. */
  restart(): Promise<unknown>;
  /** Ends the servers for good. */
  stop(): Promise<void>;
}

/** Every channel of a lock. */
const CHANNELS = 'redisson_*';
/** Fields of a lock that are no holders. */
const NO_HOLDERS = ['mode', 'nestjs-interlock'];

/** Redis's servers, however they are run. */
export class RedisStage implements LockStage {
  #key = '';
  mine!: RedisStageClient;
  theirs!: RedisStageClient;
  readonly #clients = new Set<RedisStageClient>();

  private constructor(
    private readonly backend: RedisBackend,
    readonly recipe: RedisRecipe,
    readonly observer: Redis | Cluster,
    private readonly stranger: RedisLockClient,
  ) {}

  /** @param recipe which locks are under test */
  static async build(backend: RedisBackend, recipe: RedisRecipe): Promise<RedisStage> {
    const stranger = await createRedisLockClient('stranger', { client: backend.client() });
    await stranger.connect();
    return new RedisStage(backend, recipe, backend.client(), stranger);
  }

  get key(): string {
    return this.#key;
  }

  async reset(): Promise<void> {
    this.#key = nextKey();
    [this.mine, this.theirs] = await Promise.all([this.client(), this.client()]);
  }

  async client(options: StageClientOptions = {}): Promise<RedisStageClient> {
    const redis = this.backend.connection?.() ?? duplicateOf(this.backend.client());
    const client = await RedisStageClient.connect(redis, this.recipe, {
      ...this.recipe.limits,
      ...options,
    });
    this.#clients.add(client);
    return client;
  }

  async closeClients(): Promise<void> {
    await Promise.all([...this.#clients].map(({ locks }) => locks.close()));
    for (const { redis } of this.#clients) redis.disconnect();
    this.#clients.clear();
  }

  async stop(): Promise<void> {
    await this.stranger.close();
    this.observer.disconnect();
  }

  queue(client: RedisStageClient, options?: AcquireOptions): Promise<{ lease: Promise<Lease> }> {
    return this.queueFor(client.lock(this.key), client, options);
  }

  /** A client that does not stand behind another waiter of its own listens then, so that it does not notice by chance. */
  async queueFor(
    lock: Lock,
    client: RedisStageClient,
    options?: AcquireOptions,
  ): Promise<{ lease: Promise<Lease> }> {
    const before = client.requests.length;
    const queued = await queueFor(lock, client.locks, options);
    client.note(queued.lease);
    if (this.recipe.isSpinning || client.requests.length === before) return queued;
    let isOver = false;
    const end = () => (isOver = true);
    queued.lease.then(end, end);
    const { received } = client;
    await eventually('it listens', async () => {
      await this.caughtUp();
      return isOver || client.received > received;
    });
    return queued;
  }

  /**
   * The holders; the queue of the fair lock; and where there is no queue, the clients that listen, or spin. A waiter behind
   * another one of its own client is known to that client only.
   */
  async contenders(): Promise<string[]> {
    const { redisKey: raw, queue, channel, readWriteChannel } = this.#name;
    const fields = (await this.observer.call('hkeys', raw)) as string[];
    const queued = (await this.observer.call('lrange', queue, 0, -1)) as string[];
    const listening = await this.listening([channel, readWriteChannel]);
    const holders = fields.filter((field) => !NO_HOLDERS.includes(field));
    return [...holders, ...queued, ...listening, ...this.#spinning];
  }

  /**
   * Every key but the counters of fencing tokens and the numbers of semaphores that have all their permits, and every
   * channel with a listener.
   */
  async remains(): Promise<string[]> {
    const keys = (await this.#ofMasters<string[]>('keys', '*')).flat();
    const unused = await keysOfUnusedSemaphores(this.observer, keys);
    const channels = await this.#channels();
    return [...keys.filter((key) => !KEPT.test(key) && !unused.has(key)), ...channels.flat()];
  }

  async clear(): Promise<void> {
    await this.#ofMasters('flushall');
  }

  /** Every listener is made to look again: it has dealt then with all messages that came before. */
  async caughtUp(client: StageClient = this.mine): Promise<void> {
    if (this.recipe.isSpinning) return this.#asksAgain(client);
    const received = this.#received;
    const told = await this.#tellListeners();
    await eventually('all have heard it', () => this.#received >= received + told);
    for (let look = 0; look < 3; look++)
      // answered behind the looks of its waiters
      await Promise.all(
        [...this.#clients].map(({ redis }) => redis.call('exists', this.#name.redisKey)),
      );
  }

  async expire(client: RedisStageClient): Promise<void> {
    const hasLearnt = () => client.held === 0 && isUp(client.redis);
    await eventually(
      'it knows, and is connected',
      async () => {
        if (client.id) await this.#ofMasters('eval', forgetScript, 0, client.id);
        await this.#ofMasters('eval', forgetPermitsScript, 0, ...client.permitHolders);
        this.makeSure(client);
        await eventually('it has learnt of it', hasLearnt, { within: 5_000 }); // else it could not ask just then
        return true;
      },
      { within: 15_000 },
    );
    await this.#ofMasters('client', 'kill', 'type', 'pubsub'); // the waiters look again
  }

  /** By the command of operators. */
  async evict(): Promise<void> {
    const { redisKey: raw } = this.#name;
    const mode = (await this.observer.hget(raw, 'mode')) as 'read' | 'write' | null;
    if (mode) await this.stranger.readWriteLock(raw).forceUnlock(mode);
    else await this.stranger.mutex(raw).forceUnlock();
  }

  /** It does when it is connected anew. */
  makeSure({ redis }: RedisStageClient): void {
    redis.disconnect(true);
  }

  async forbidRemoval(): Promise<void> {
    await this.#ofMasters('acl', 'setuser', 'default', '-del');
  }

  async permitRemoval(): Promise<void> {
    await this.#ofMasters('acl', 'setuser', 'default', '+del');
    await this.clear(); // else what could not be removed stays until its lease is over
  }

  async down(): Promise<void> {
    await Promise.all(this.backend.servers.map((server) => server.kill()));
    await eventually('no client is connected', () => !this.#all.some(isUp));
  }

  async up(): Promise<void> {
    await this.backend.restart();
    await eventually(
      'everybody is connected again',
      async () => {
        await Promise.all(this.#all.map((redis) => redis.call('exists', this.#name.redisKey)));
        await this.#ofMasters('ping');
        return this.#knowsEveryMaster();
      },
      { within: 20_000 },
    );
  }

  freeze(): void {
    for (const server of this.backend.servers) server.freeze();
  }

  thaw(): void {
    for (const server of this.backend.servers) server.thaw();
  }

  get #name(): LockName {
    return new LockName(this.recipe.firstKey?.(this.key) ?? this.key);
  }

  get #isCluster(): boolean {
    return this.observer.isCluster;
  }

  get #masters(): Redis[] {
    return 'nodes' in this.observer ? this.observer.nodes('master') : [this.observer];
  }

  get #isSharded(): boolean {
    return this.#isCluster && sinceRedis('7.0');
  }

  get #all(): RedisClient[] {
    return [this.observer, ...[...this.#clients].map(({ redis }) => redis)];
  }

  /** How many messages have come in, of all clients. */
  get #received(): number {
    return [...this.#clients].reduce((sum, { received }) => sum + received, 0);
  }

  /** A client of a cluster forgets a master that does not let it in, until it asks for one of its keys. */
  async #knowsEveryMaster(): Promise<boolean> {
    const { observer } = this;
    if (!('nodes' in observer)) return true;
    await new Promise<void>((resolve) => observer.refreshSlotsCache(() => resolve()));
    const masters = new Set(observer.slots.map(([master]) => master));
    return observer.nodes('master').length === masters.size;
  }

  /** The answers of all servers that keys are written to. */
  async #ofMasters<T>(...command: [string, ...(string | number)[]]): Promise<T[]> {
    return Promise.all(this.#masters.map((node) => node.call(...command) as Promise<T>));
  }

  /** The answers of all servers that may be listened to: where channels are not sharded, replicas too. */
  async #ofListened<T>(...command: [string, ...(string | number)[]]): Promise<T[]> {
    if (this.#isSharded || !('nodes' in this.observer)) return this.#ofMasters(...command);
    return Promise.all(this.observer.nodes().map((node) => node.call(...command) as Promise<T>));
  }

  /** The channels with listeners, of each server. */
  #channels(): Promise<string[][]> {
    return this.#ofListened('pubsub', this.#isSharded ? 'shardchannels' : 'channels', CHANNELS);
  }

  /** Sends a message to all that listen; resolves to how many they are. */
  async #tellListeners(): Promise<number> {
    const channels = await this.#channels();
    const publish = this.#isSharded ? 'spublish' : 'publish';
    const told =
      this.#isCluster && !this.#isSharded
        ? [...new Set(channels.flat())].map((name) => this.#tellAll(name))
        : channels.flatMap((names, i) =>
            names.map((name) => this.#masters[i]!.call(publish, name, '0')),
          );
    return (await Promise.all(told)).reduce<number>((sum, count) => sum + Number(count), 0);
  }

  /** Each server passes the message on to all others of its cluster, and counts its own listeners only. */
  async #tellAll(channel: string): Promise<number> {
    const listeners = await this.listening([channel]);
    await this.observer.call('publish', channel, '0');
    return listeners.length;
  }

  /** The clients that ask again and again: of those no server knows. */
  get #spinning(): string[] {
    if (!this.recipe.isSpinning) return [];
    return [...this.#clients].filter(({ waiting }) => waiting > 0).map(() => 'spinning');
  }

  async #asksAgain(client: StageClient): Promise<void> {
    const { length } = client.requests; // what it asks now, it may have sent before
    await eventually('it has looked again', () => client.requests.length > length + 1);
  }

  /** Those channels, each as often as clients listen to it. */
  async listening(channels: readonly string[]): Promise<string[]> {
    const count = this.#isSharded ? 'shardnumsub' : 'numsub';
    const answers = await Promise.all(
      channels.map((channel) => this.#ofListened<[string, number]>('pubsub', count, channel)),
    );
    return answers.flat().flatMap(([channel, listeners]) => Array<string>(listeners).fill(channel));
  }
}

/** The lease of a lock, in milliseconds. It is longer than any test: what is left or slept over is not made good by its end. */
const WATCHDOG_TIMEOUT = 90_000;
/** The name of a caller that wants permits of a semaphore; it does not show its client. */
const PERMIT_HOLDER = /^[0-9a-f]{32}$/;

/** A lock client on Redis, on a connection of its own, whose commands are written down. */
export class RedisStageClient implements StageClient {
  #held = 0;
  #received = 0;
  #waiting = 0;

  private constructor(
    readonly redis: RedisClient,
    readonly locks: RedisLockClient,
    private readonly recipe: RedisRecipe,
    private readonly record: CommandRecord,
  ) {
    const hear = (node: RedisNode) => onMessages(node, () => (this.#received += 1));
    if ('nodes' in redis) redis.on('+node', (node) => hear(node as RedisNode));
    for (const node of 'nodes' in redis ? redis.nodes('all') : [redis]) hear(node);
    locks.on('acquired', () => (this.#held += 1));
    locks.on('released', () => (this.#held -= 1));
    locks.on('lost', () => (this.#held -= 1));
  }

  static async connect(
    redis: RedisClient,
    recipe: RedisRecipe,
    { wait = 'forever', namespace = '', ...limits }: StageClientOptions,
  ): Promise<RedisStageClient> {
    const record = new CommandRecord(redis);
    const locks = await createRedisLockClient('contract', {
      client: asOwn(redis),
      watchdogTimeout: WATCHDOG_TIMEOUT,
      prefix: namespace,
      wait,
      ...limits,
    });
    const client = new RedisStageClient(redis, locks, recipe, record);
    await locks.connect();
    return client;
  }

  get requests(): CommandRecord['requests'] {
    return this.record.requests;
  }

  /** What the names of its owners begin with; none before the first. */
  get id(): string | undefined {
    return this.record.owner;
  }

  /** All that have wanted permits of a semaphore. */
  get permitHolders(): string[] {
    const parts = this.requests.flat().map((part) => `${part}`);
    return [...new Set(parts.filter((part) => PERMIT_HOLDER.test(part)))];
  }

  /** How many locks it holds, as far as it knows. */
  get held(): number {
    return this.#held;
  }

  /** How many messages have come in. */
  get received(): number {
    return this.#received;
  }

  /** How many of its acquires that were noted are not over. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Notes an acquire that waits. */
  note(lease: Promise<unknown>): void {
    const over = () => (this.#waiting -= 1);
    this.#waiting += 1;
    lease.then(over, over);
  }

  lock(key: string): Mutex {
    return this.recipe.mutex(this.locks, key);
  }

  half(which: 'read' | 'write', key: string): Lock {
    const { preferWriters } = this.recipe;
    const lock = this.locks.readWriteLock(key, { preferWriters });
    return which === 'read' ? lock.readLock() : lock.writeLock();
  }

  readLock(key: string): Lock {
    return this.half('read', key);
  }

  writeLock(key: string): Lock {
    return this.half('write', key);
  }
}

const client = 'contract';
/** Within bounds that no test reaches. */
const OFTEN = { atMost: 1_000, for: 600_000 };
const KEEPING = { ...OFTEN, keep: OFTEN.for };

/** The locks that there are on Redis. */
export const redisRecipes = {
  mutex: { client, mutex: (locks, key) => locks.mutex(key) },
  fenced: { client, mutex: (locks, key) => locks.mutex(key, { fenced: true }) },
  fair: { client, mutex: (locks, key) => locks.mutex(key, { fair: true }) },
  handedOn: { client, mutex: (locks, key) => locks.mutex(key, { handOff: OFTEN }) },
  kept: { client, mutex: (locks, key) => locks.mutex(key, { handOff: KEEPING }) },
  spin: { client, mutex: (locks, key) => locks.spinLock(key), isSpinning: true },
  semaphoreMutex: { client, mutex: (locks, key) => locks.semaphoreMutex(key) },
  multiLock: {
    mutex: (locks, key) => locks.multiLock([locks.mutex(`${key}.b`), locks.mutex(`${key}.a`)]),
    firstKey: (key) => `${key}.a`,
  },
  handedOnMultiLock: {
    mutex: (locks, key) =>
      locks.multiLock([
        locks.mutex(`${key}.b`, { handOff: OFTEN }),
        locks.mutex(`${key}.a`, { handOff: KEEPING }),
      ]),
    firstKey: (key) => `${key}.a`,
  },
  slotMultiLock: {
    mutex: (locks, key) => locks.multiLock([locks.mutex(`{${key}}.b`), locks.mutex(`{${key}}.a`)]),
    firstKey: (key) => `{${key}}.a`,
  },
  fencedMultiLock: {
    mutex: (locks, key) =>
      locks.multiLock(['b', 'a'].map((part) => locks.mutex(`${key}.${part}`, { fenced: true }))),
    firstKey: (key) => `${key}.a`,
  },
  sharedReads: {
    client,
    mutex: (locks, key) => locks.mutex(key, { handOff: false }),
    limits: { handOff: OFTEN },
  },
  writersFirst: { client, mutex: (locks, key) => locks.mutex(key), preferWriters: true },
} satisfies Record<string, RedisRecipe>;

/** Has it a connection? */
export function isUp(redis: RedisClient): boolean {
  const nodes = 'nodes' in redis ? redis.nodes('all') : [redis];
  return redis.status === 'ready' && nodes.some(({ status }) => status === 'ready');
}
