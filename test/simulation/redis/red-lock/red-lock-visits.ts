import type { RedisAcquireOptions } from '../../../../lib/redis/locks/redis-lease.js';
import type { RedLockLease } from '../../../../lib/redis/red-lock/red-lock.js';
import type { Dice } from '../../dice.js';
import type { RedLockRequest } from './red-lock-judge.js';
import type { RedLockProcess } from './red-lock-process.js';
import type { RedLockWorld } from './red-lock-world.js';

/** What a user does with a lock on several servers. */
export class RedLockVisits {
  constructor(
    private readonly world: RedLockWorld,
    private readonly client: RedLockProcess,
    private readonly key: string,
  ) {}

  async next(dice: Dice): Promise<void> {
    const { client, world } = this;
    const { judge } = world;
    const isTry = dice.chance(0.2);
    const wait = dice.chance(0.4) ? dice.pick([300, 3_000, 30_000]) : undefined;
    const options = this.#options(wait, dice);
    const request = judge.began(client, isTry, wait);
    const [signal, stopAbort] = this.#mayGiveUp(request, dice);
    try {
      const lock = client.locks.mutex(this.key);
      const asked = { ...options, signal };
      const lease = await (isTry ? lock.tryAcquire(asked) : lock.acquire(asked));
      stopAbort();
      if (lease === undefined) judge.refused(request);
      else await this.#hold(request, lease, dice);
    } catch (error) {
      stopAbort();
      judge.failed(request, error);
    }
  }

  /** Never rejects: what fails while it is held is the fault of the network. */
  async #hold(request: RedLockRequest, lease: RedLockLease, dice: Dice): Promise<void> {
    const { client, world } = this;
    const grant = world.judge.granted(request, lease);
    await lease.fencingToken().then(
      (token) => world.judge.fenced(grant, token),
      () => {},
    );
    await client.sleep(dice.time(dice.pick([0, 0, 0.05, 0.5, 1.5]) * client.watchdogTimeout));
    world.judge.releasing(grant);
    await lease.release();
  }

  #options(wait: number | undefined, dice: Dice): RedisAcquireOptions {
    const { watchdogTimeout } = this.client;
    const lease = dice.chance(0.25)
      ? Math.round(dice.between(0.2, 2) * watchdogTimeout)
      : undefined;
    return { wait, lease };
  }

  /** Returns a signal that may abort the request, and a function after which it does not. */
  #mayGiveUp(request: RedLockRequest, dice: Dice): [AbortSignal, () => void] {
    const abort = new AbortController();
    if (!dice.chance(0.25)) return [abort.signal, () => {}];
    const giveUp = () => {
      request.abortedAt = this.world.clock.now();
      abort.abort();
    };
    const timer = this.client.process.setTimer(giveUp, dice.time(2_000));
    return [abort.signal, () => timer.cancel()];
  }
}
