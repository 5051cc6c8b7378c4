import type { Cluster, Redis } from 'ioredis';
import type { Lock, Mutex } from '../../lib/core/lock.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { asOwn } from '../support/as-own.js';
import { CommandRecord } from './command-record.js';
import { onMessages } from './on-messages.js';
import type { RedisRecipe } from './redis-recipe.js';
import type { StageClient, StageClientOptions } from './stage-client.js';

/** The lease of a lock, in milliseconds. It is longer than any test: what is left or slept over is not made good by its end. */
const WATCHDOG_TIMEOUT = 90_000;
/** The name of a caller that wants permits of a semaphore; it does not show its client. */
const PERMIT_HOLDER = /^[0-9a-f]{32}$/;

/** A lock client on Redis, on an ioredis client of its own, whose commands are written down. */
export class RedisStageClient implements StageClient {
  #held = 0;
  #received = 0;
  #waiting = 0;

  private constructor(
    readonly redis: Redis | Cluster,
    readonly locks: RedisLockClient,
    private readonly recipe: RedisRecipe,
    private readonly record: CommandRecord,
  ) {
    const hear = (node: Redis) => onMessages(node, () => (this.#received += 1));
    if ('nodes' in redis) redis.on('+node', hear);
    for (const node of 'nodes' in redis ? redis.nodes() : [redis]) hear(node);
    locks.on('acquired', () => (this.#held += 1));
    locks.on('released', () => (this.#held -= 1));
    locks.on('lost', () => (this.#held -= 1));
  }

  static async connect(
    redis: Redis | Cluster,
    recipe: RedisRecipe,
    { wait = 'forever', namespace = '' }: StageClientOptions,
  ): Promise<RedisStageClient> {
    const record = new CommandRecord(redis);
    const locks = await createRedisLockClient('contract', {
      client: asOwn(redis),
      watchdogTimeout: WATCHDOG_TIMEOUT,
      prefix: namespace,
      wait,
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
