import type { Liveness } from '../../core/internal/client-lifecycle.js';
import { isRedisCluster, type RedisClient } from './ioredis.js';
import type { RedisConnection } from './redis-connection.js';

/** Something of Node that may keep the process alive. */
interface Handle {
  ref(): void;
  unref(): void;
}

const read = (object: unknown, name: string): unknown =>
  typeof object === 'object' && object !== null ? Reflect.get(object, name) : undefined;

/**
 * Handles of an ioredis client: its socket, and the timers between two attempts to connect. ioredis has no names for the
 * timers, nor for the connection that each Cluster opens for subscriptions; where they are not found, they are left alone.
 */
function handlesOf(client: RedisClient): Handle[] {
  const own = ['stream', 'reconnectTimeout', 'slotsTimer'].map((name) => read(client, name));
  const ofNodes = nodesOf(client).flatMap((node) => [
    read(node, 'stream'),
    read(node, 'reconnectTimeout'),
  ]);
  return [...own, ...ofNodes].filter((it): it is Handle => typeof read(it, 'unref') === 'function');
}

function nodesOf(client: RedisClient): unknown[] {
  if (!isRedisCluster(client)) return [];
  return [...client.nodes('all'), read(read(client, 'subscriber'), 'subscriber')];
}

/** Whether an answer is awaited. */
function isBusy(client: RedisClient): boolean {
  const queues = [client, ...nodesOf(client)].flatMap((each) => [
    read(each, 'commandQueue'),
    read(each, 'offlineQueue'),
  ]);
  return queues.some((queue) => Number(read(queue, 'length')) > 0);
}

/** The liveness of connections to Redis; none of their handles has to keep the process alive. */
export class RedisLiveness implements Liveness {
  /** The last call of each handle, which is not repeated: a socket that is not open yet remembers every call. */
  readonly #lastCalls = new WeakMap<Handle, keyof Handle>();

  constructor(private readonly connections: readonly RedisConnection[]) {}

  /** Except for those on which an answer is awaited. */
  unref(): void {
    for (const client of this.#clients)
      for (const handle of handlesOf(client)) this.#call(handle, isBusy(client) ? 'ref' : 'unref');
  }

  async rest(): Promise<void> {}

  ref(): void {
    for (const handle of this.#clients.flatMap(handlesOf)) this.#call(handle, 'ref');
  }

  #call(handle: Handle, what: keyof Handle): void {
    if (this.#lastCalls.get(handle) === what) return;
    this.#lastCalls.set(handle, what);
    handle[what]();
  }

  get #clients(): RedisClient[] {
    return this.connections.flatMap(({ settings: { client }, subscriptions }) => [
      client,
      ...(subscriptions?.clients ?? []),
    ]);
  }
}
