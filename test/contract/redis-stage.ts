import type { Cluster, Redis } from 'ioredis';
import type { AcquireOptions, Lock } from '../../lib/core/lock.js';
import type { Lease } from '../../lib/core/lease.js';
import { LockName } from '../../lib/redis/connection/lock-name.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { eventually } from '../support/eventually.js';
import { forgetPermitsScript } from './forget-permits-script.js';
import { forgetScript } from './forget-script.js';
import { isUp } from './is-up.js';
import type { LockStage } from './lock-stage.js';
import { queueFor } from './queue-for.js';
import type { RedisBackend } from './redis-backend.js';
import type { RedisRecipe } from './redis-recipe.js';
import { RedisStageClient } from './redis-stage-client.js';
import type { StageClient, StageClientOptions } from './stage-client.js';
import { keysOfUnusedSemaphores } from './keys-of-unused-semaphores.js';
import { KEPT } from '../support/kept-keys.js';

/** Every channel of a lock. */
const CHANNELS = 'redisson_*';
/** Fields of a lock that are no holders. */
const NO_HOLDERS = ['mode', 'nestjs-interlock'];

/** Redis's servers, however they are run. */
export class RedisStage implements LockStage {
  #test = 0;
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
    return `key-${this.#test}`;
  }

  async reset(): Promise<void> {
    this.#test += 1;
    [this.mine, this.theirs] = await Promise.all([this.client(), this.client()]);
  }

  async client(options: StageClientOptions = {}): Promise<RedisStageClient> {
    const redis = this.backend.client();
    const client = await RedisStageClient.connect(redis, this.recipe, options);
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
    await this.backend.stop();
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

  /** Every listener is made to look again: it has dealt then with all messages that came before. */
  async caughtUp(client: StageClient = this.mine): Promise<void> {
    if (this.recipe.isSpinning) return this.#asksAgain(client);
    const received = this.#received;
    let told = 0;
    const publish = this.#isCluster ? 'spublish' : 'publish';
    for (const [i, channels] of (await this.#channels()).entries())
      for (const channel of channels)
        told += Number(await this.#masters[i]!.call(publish, channel, '0'));
    await eventually('all have heard it', () => this.#received >= received + told);
    for (let look = 0; look < 3; look++)
      // answered behind the looks of its waiters
      await Promise.all([...this.#clients].map(({ redis }) => redis.exists(this.#name.redisKey)));
  }

  async expire(client: RedisStageClient): Promise<void> {
    if (client.id) await this.#ofMasters('eval', forgetScript, 0, client.id);
    await this.#ofMasters('eval', forgetPermitsScript, 0, ...client.permitHolders);
    this.makeSure(client);
    await eventually('it knows, and is connected', () => client.held === 0 && isUp(client.redis));
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
    await this.#ofMasters('flushall'); // else what could not be removed stays until its lease is over
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
        await Promise.all(this.#all.map((redis) => redis.exists(this.#name.redisKey)));
        await this.#ofMasters('ping');
        return true;
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

  get #all(): (Redis | Cluster)[] {
    return [this.observer, ...[...this.#clients].map(({ redis }) => redis)];
  }

  /** How many messages have come in, of all clients. */
  get #received(): number {
    return [...this.#clients].reduce((sum, { received }) => sum + received, 0);
  }

  /** The answers of all servers that keys are written to. */
  async #ofMasters<T>(...command: [string, ...(string | number)[]]): Promise<T[]> {
    return Promise.all(this.#masters.map((node) => node.call(...command) as Promise<T>));
  }

  /** The channels with listeners, of each server. */
  #channels(): Promise<string[][]> {
    return this.#ofMasters('pubsub', this.#isCluster ? 'shardchannels' : 'channels', CHANNELS);
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
    const count = this.#isCluster ? 'shardnumsub' : 'numsub';
    const answers = await Promise.all(
      channels.map((channel) => this.#ofMasters<[string, number]>('pubsub', count, channel)),
    );
    return answers.flat().flatMap(([channel, listeners]) => Array<string>(listeners).fill(channel));
  }
}
