import { RetryNTimes } from '../../../../lib/zookeeper/connection/retry-policies.js';
import { counterCall, CounterJudge } from '../../counters.js';
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

  constructor(
    world: World,
    private readonly way: Way,
  ) {
    world.observe(`${PATH}-lock`, mutexRule);
    this.#judge = new CounterJudge(world, PATH, 64);
  }

  /** Adds a number that no sum of others comes to. */
  async add(user: User, number: number): Promise<void> {
    const judge = this.#judge;
    const { client } = user;
    const counter = client.locks.atomicLong(PATH, WAYS[this.way]);
    await user.turn('adds');
    const call = counterCall('add', { counter, seen: 0, delta: 2 ** number, value: 0 });
    const change = judge.began({ what: 'add', client, makes: call.makes, isRepeatable: false });
    try {
      judge.ended(change, (await call.run()) as Awaited<ReturnType<typeof counter.add>>);
    } catch (error) {
      judge.failed(change, error);
    }
  }
}
