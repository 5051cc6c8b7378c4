import type { Cluster, Redis } from 'ioredis';
import type { Lock } from '../../lib/core/lock.js';
import type { Mutex } from '../../lib/core/mutex.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { lockRenew } from '../../lib/redis/scripts/lock-renew.js';
import type { RedisRecipe } from './redis-recipe.js';
import type { StageClient, StageClientOptions } from './stage-client.js';

/** The lease of a lock, in milliseconds. It is longer than any test: what is left or slept over is not made good by its end. */
const WATCHDOG_TIMEOUT = 90_000;
const OWNER = /^([0-9a-f-]{36}):\d+/;

type Command = readonly (string | number)[];

/** A lock client on Redis, on an ioredis client of its own, whose commands are written down. */
export class RedisStageClient implements StageClient {
  #held = 0;
  #received = 0;

  private constructor(
    readonly redis: Redis | Cluster,
    readonly locks: RedisLockClient,
    private readonly recipe: RedisRecipe,
    private readonly commands: readonly Command[],
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
    const commands: Command[] = [];
    const call = redis.call.bind(redis) as (...command: Command) => Promise<unknown>;
    Object.assign(redis, {
      call(...command: Command) {
        commands.push(command);
        return call(...command);
      },
    });
    const locks = await createRedisLockClient('contract', {
      client: redis,
      watchdogTimeout: WATCHDOG_TIMEOUT,
      prefix: namespace,
      wait,
    });
    const client = new RedisStageClient(redis, locks, recipe, commands);
    await locks.connect();
    return client;
  }

  get requests(): readonly Command[] {
    const isScript = (name: unknown) => name === 'evalsha' || name === 'eval';
    const isRenewal = (script: unknown) => script === lockRenew.sha1 || script === lockRenew.source;
    return this.commands.filter(([name, script]) => isScript(name) && !isRenewal(script));
  }

  /** What the names of its owners begin with; none before the first. */
  get id(): string | undefined {
    const names = this.requests.flat().map((part) => OWNER.exec(`${part}`)?.[1]);
    return names.find((name) => name !== undefined);
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

/** Calls the listener at each message to a subscriber that is made of that connection. */
function onMessages(redis: Redis, listener: () => void): void {
  const { duplicate } = redis;
  redis.duplicate = (override) => {
    const subscriber = duplicate.call(redis, override);
    return subscriber.on('message', listener).on('smessage', listener);
  };
}
