import { LockName } from '../../../../lib/redis/connection/lock-name.js';
import type { Dice } from '../../dice.js';
import type { Request } from './observed-calls.js';
import type { ObservedLock } from './observed-locks.js';
import { LatchRule } from './latch-rule.js';
import type { RedisProcess } from './redis-process.js';
import type { RedisWorld } from './redis-world.js';

/** What users do with a latch: they close it, count it down, and wait until it is open. */
export class LatchVisits {
  readonly #rule: LatchRule;
  readonly #latch: ObservedLock;

  constructor(
    private readonly world: RedisWorld,
    private readonly key: string,
  ) {
    this.#rule = new LatchRule(world, key);
    this.#latch = latch(key);
  }

  next(client: RedisProcess, dice: Dice): Promise<void> {
    return dice.pick([
      () => this.#wait(client, dice),
      () => this.#countDown(client),
      () => this.#countDown(client),
      () => this.#close(client, dice.integer(1, 4)),
    ])();
  }

  /** Opens it for those that wait, whoever closes it meanwhile. */
  async finish(client: RedisProcess, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.#countDown(client);
      await client.sleep(100);
    }
  }

  async #wait(client: RedisProcess, dice: Dice): Promise<void> {
    const wait = dice.chance(0.3) ? dice.pick([5, 30, 300, 3_000]) : undefined;
    const abort = new AbortController();
    const patience = dice.chance(0.25) ? dice.time(2_000) : undefined;
    await this.#ask(client, wait, async (request) => {
      const giveUp = () => {
        request.abortedAt = this.world.clock.now();
        abort.abort();
      };
      const timer = patience === undefined ? undefined : client.process.setTimer(giveUp, patience);
      try {
        await client.locks.countDownLatch(this.key).await({ wait, signal: abort.signal });
      } finally {
        timer?.cancel();
      }
      this.#rule.passed(request.startedAt);
    });
  }

  #countDown(client: RedisProcess): Promise<void> {
    return this.#call(client, async (startedAt) => {
      const left = await client.locks.countDownLatch(this.key).countDown();
      this.#rule.countedDown(startedAt, left);
    });
  }

  #close(client: RedisProcess, count: number): Promise<void> {
    return this.#call(client, async (startedAt) => {
      const isDone = await client.locks.countDownLatch(this.key).trySetCount(count);
      this.#rule.closed(startedAt, count, isDone);
    });
  }

  /** A call whose outcome is unknown while it has not succeeded. */
  #call(client: RedisProcess, call: (startedAt: number) => Promise<void>): Promise<void> {
    this.#rule.began();
    return this.#ask(client, undefined, async ({ startedAt }) => {
      await call(startedAt);
      this.#rule.ended();
    });
  }

  async #ask(
    client: RedisProcess,
    wait: number | undefined,
    work: (request: Request) => Promise<void>,
  ): Promise<void> {
    const { judge } = this.world;
    const request = judge.began(client, this.#latch, false, wait);
    try {
      await work(request);
      judge.ended(request, 'granted');
    } catch (error) {
      judge.failed(request, error);
    }
  }
}

/** The latch as users wait for it: it is free when it is open, and nobody has it. */
export function latch(key: string): ObservedLock {
  return {
    title: `latch ${key}`,
    name: new LockName(key),
    isFenced: false,
    isFair: false,
    share: 0,
    of: () => {
      throw new Error('a latch is no lock');
    },
    endOf: () => undefined,
    isFree: (keyspace) => keyspace.entry(key) === undefined,
    get parts() {
      return [this];
    },
    inside: [],
  };
}
