import { RetryNTimes } from '../../../../lib/zookeeper/connection/retry-policies.js';
import {
  type CounterCallOptions,
  counterCall,
  CounterJudge,
  type CounterMethod,
  CountFollower,
} from '../../counters.js';
import { mutexRule } from '../../locks.js';
import type { World } from '../../world.js';
import type { User } from './users.js';

const PATH = '/locks/number';

/** How a number is changed: again and again until no other change comes first, or after the first one inside of its mutex. */
type Way = 'optimistic' | 'promoted';

const ONCE = new RetryNTimes(0, 0);
const WAYS = {
  optimistic: { retryPolicy: new RetryNTimes(9, 0), promotedToLock: false },
  promoted: { retryPolicy: ONCE, promotedToLock: { retryPolicy: ONCE, wait: 'forever' } },
} as const;

/** A number that users change one step after the other. */
export class SteppedCounter {
  readonly #judge: CounterJudge;

  /** @param bits 32: it may be a shared count, too */
  constructor(
    private readonly world: World,
    bits: 32 | 64,
  ) {
    world.observe(`${PATH}-lock`, mutexRule);
    this.#judge = new CounterJudge(world, PATH, bits);
  }

  /** Adds a number that no sum of others comes to. */
  async add(user: User, number: number, way: Way): Promise<void> {
    const counter = user.client.locks.atomicLong(PATH, WAYS[way]);
    await user.turn('adds');
    await this.#change(user, 'add', { counter, seen: 0, delta: 2 ** number, value: 0 });
  }

  /** Sets the shared count to a number of its own, if it is still the one that this user has seen. */
  async set(user: User, number: number): Promise<void> {
    const counter = user.client.locks.atomicInteger(PATH, WAYS.optimistic);
    await user.turn('starts');
    const { count, started } = new CountFollower(this.world, this.#judge, user.client);
    await started;
    await user.turn('sets it');
    await this.#change(user, 'trySetCount', { counter, count, seen: 0, delta: 0, value: number });
  }

  async #change(user: User, method: CounterMethod, options: CounterCallOptions): Promise<void> {
    const judge = this.#judge;
    const { client } = user;
    const { makes, run } = counterCall(method, options);
    const change = judge.began({ what: method, client, makes, isRepeatable: false });
    try {
      const outcome = await run();
      if (typeof outcome === 'object') judge.ended(change, outcome);
      else if (outcome === false) judge.denied(change);
      else judge.confirmed(change);
    } catch (error) {
      judge.failed(change, error);
    }
  }
}
