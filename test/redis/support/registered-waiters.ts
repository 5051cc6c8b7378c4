import { Redis } from 'ioredis';
import { eventually } from '../../support/time.js';
import type { RedisStage } from './redis-stage.js';

/** Longer than any test, in ms. */
export const LONG_LEASE = 600_000;
/** Less than a third of the default `watchdogTimeout`, in ms: a waiter that is granted a lock within it was woken by a message. */
export const WOKEN_WITHIN = 6_000;
/** A clock of the server far ahead, in ms. */
const FAR = 10 ** 14;

/** The waiters of the lock of a test: one of them listens, the others are registered to be woken one by one. */
export class RegisteredWaiters {
  readonly #subscribers = new Set<Redis>();

  /** @param channel Redisson's, of that kind of lock */
  constructor(
    private readonly stage: RedisStage,
    private readonly channel: string,
    readonly key = `interlock_waiters:{${stage.key}}`,
  ) {}

  /** All of them, also the listener. */
  async all(): Promise<string[]> {
    return (await this.stage.command('ZRANGE', this.key, 0, -1)) as string[];
  }

  async scores(): Promise<number[]> {
    const flat = (await this.stage.command('ZRANGE', this.key, 0, -1, 'WITHSCORES')) as string[];
    return flat.filter((_, i) => i % 2 === 1).map(Number);
  }

  /** Resolves once one that waits has started listening to Redisson's channel, beside those that are frozen. */
  async listens(): Promise<void> {
    await this.stage.listening(this.channel, this.#subscribers.size + 1);
  }

  /** Registers processes that have died: they listen to nothing. */
  async dead(...ids: string[]): Promise<void> {
    const [listener, ...others] = ids;
    const scores = others.flatMap((id, i) => [i + 1, id]);
    await this.stage.command('ZADD', this.key, -FAR, listener!, ...scores);
  }

  /** There is a listener that never reacts; resolves to what it hears. */
  async frozenListener(): Promise<string[]> {
    const heard = await this.freeze(this.channel);
    await this.dead('frozen:listener');
    return heard;
  }

  /** There is a registered waiter that never reacts; resolves to what it hears. */
  async frozen(id: string): Promise<string[]> {
    const heard = await this.freeze(`${this.channel}:${id}`);
    await this.stage.command('ZADD', this.key, 1, id);
    return heard;
  }

  /** Resolves when the last waiter of ours is registered, and listens to its own channel. */
  async registered(count = 1): Promise<void> {
    await eventually(`${count} are registered`, async () => {
      const ours = (await this.all()).filter((id) => !/^(dead|frozen):/.test(id));
      if (ours.length < count) return false;
      for (const id of ours.slice(-count)) await this.stage.listening(`${this.channel}:${id}`);
      return true;
    });
  }

  /** Subscribes to the channel, as a process that never reacts; resolves to what it receives. */
  async freeze(channel: string): Promise<string[]> {
    const { host, port } = await this.stage.deployment.masterOf(this.stage.key);
    const subscriber = new Redis({ host, port, disconnectTimeout: 0 });
    this.#subscribers.add(subscriber);
    const heard: string[] = [];
    const isSharded = this.stage.publish === 'SPUBLISH';
    subscriber.on(isSharded ? 'smessage' : 'message', (_, message) => heard.push(message));
    await subscriber.call(isSharded ? 'ssubscribe' : 'subscribe', channel);
    return heard;
  }

  /** Begins an acquire; resolves once one more stands among the waiters, with the lease to come. */
  async joinedBy<T>(acquire: () => Promise<T>): Promise<{ lease: Promise<T> }> {
    const { length } = await this.all();
    const lease = acquire();
    lease.catch(() => {}); // awaited by the test later
    await eventually('it waits', async () => (await this.all()).length > length);
    return { lease };
  }

  /** Removes the frozen ones, and what the dead have left. */
  async clear(): Promise<void> {
    for (const subscriber of this.#subscribers) subscriber.disconnect();
    await this.stage.command('DEL', this.key);
  }
}
