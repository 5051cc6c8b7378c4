import { RetryNTimes } from '../../../lib/zookeeper/connection/retry-policies.js';
import type { Dice } from '../dice.js';
import type { SimulatedClient } from '../simulated-client.js';
import type { CountFollower } from './count-follower.js';
import { counterCall, type CounterMethod } from './counter-call.js';
import type { CounterJudge } from './counter-judge.js';
import type { Counter } from './counter.js';

export interface CounterUserOptions {
  readonly client: SimulatedClient;
  readonly judge: CounterJudge;
  readonly dice: Dice;
  /** The same number as a shared count, where it has 32 bits. */
  readonly follower?: CountFollower;
}

/** A schedule has no more calls than that. */
const IDS = 1_024;
/** A call sets its own number, multiplied by this. */
const APART = 1_000_000;
/** Numbers of 64 bits are multiples of this. */
const UNIT = 2 ** 20;

const METHODS: readonly CounterMethod[] = [
  ...(['add', 'add', 'add', 'subtract', 'subtract', 'trySet'] as const),
  ...(['compareAndSet', 'compareAndSet', 'forceSet', 'initialize'] as const),
];
const OF_A_COUNT = [...METHODS, ...(['trySetCount', 'trySetCount', 'setCount'] as const)];
const REPEATABLE: readonly CounterMethod[] = ['forceSet', 'setCount'];

/** Uses a number as clients do, at random; each change adds or sets a number of its own. */
export class CounterUser {
  readonly client: SimulatedClient;
  readonly #counter: Counter;
  #seen = 0;

  constructor(private readonly options: CounterUserOptions) {
    const { client, judge, dice, follower } = options;
    this.client = client;
    const policy = () => new RetryNTimes(dice.integer(0, 3), dice.pick([0, 5, 40]));
    const inside = { retryPolicy: policy(), wait: dice.pick([100, 'forever'] as const) };
    const how = { retryPolicy: policy(), promotedToLock: dice.chance(0.7) && inside };
    this.#counter = follower
      ? client.locks.atomicInteger(judge.path, how)
      : client.locks.atomicLong(judge.path, how);
  }

  /** Uses the number again and again until that time, or until its client is closed. */
  async live(until: number): Promise<void> {
    const { client, dice } = this.options;
    while (client.closedAt === undefined && client.process.now() < until) {
      await client.sleep(dice.time(dice.pick([0, 50, 300, 1_000])));
      if (dice.chance(0.2)) await Promise.all([this.#change(), this.#change()]);
      else await (dice.chance(0.2) ? this.#read() : this.#change());
    }
  }

  async #read(): Promise<void> {
    const { client, judge } = this.options;
    const since = client.process.now();
    const value = await this.#counter.get().catch(() => undefined); // no answer in time, or closed
    if (value === undefined) return;
    judge.read(BigInt(value), since);
    this.#seen = Number(value);
  }

  async #change(): Promise<void> {
    const { judge, client, dice, follower } = this.options;
    const method = dice.pick(follower ? OF_A_COUNT : METHODS);
    const unit = follower ? 1 : UNIT;
    const call = counterCall(method, {
      counter: this.#counter,
      count: follower?.count,
      seen: this.#seen,
      delta: unit * (dice.integer(0, 999) * IDS + judge.nextId), // no sum of others, as far as randomness permits
      value: unit * APART * judge.nextId,
    });
    const isRepeatable = REPEATABLE.includes(method);
    const change = judge.began({ what: method, client, makes: call.makes, isRepeatable });
    try {
      const outcome = await call.run();
      if (typeof outcome === 'object') {
        judge.ended(change, outcome);
        this.#seen = Number(outcome.postValue);
      } else if (outcome === false) judge.denied(change);
      else judge.confirmed(change);
    } catch (error) {
      judge.failed(change, error);
    }
  }
}
