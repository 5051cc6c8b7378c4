import type { Lease } from '../../../../lib/core/lease.js';
import { redisCommands } from '../../../../lib/redis/redis-write.js';
import type { Acts } from '../../explorer/acts.js';
import { writtenKey } from '../world/lock-visits.js';
import type { ObservedHold } from '../world/observed-calls.js';
import type { AskedLock } from '../world/observed-locks.js';
import type { RedisProcess } from '../world/redis-process.js';
import type { RedisWorld } from '../world/redis-world.js';

/** How a guest comes to a lock, and what it does there. */
interface Stay {
  /** Default: it waits as long as it takes. */
  readonly how?: 'tries' | 'may give up';
  /** What it does while it holds the lock. */
  readonly inside?: (holds: readonly ObservedHold[]) => Promise<void>;
  /** What it holds already, in the scope of which it is called. */
  readonly outer?: readonly ObservedHold[];
}

/** A user of the locks of one client, one step after the other. */
export class RedisGuest {
  constructor(
    readonly name: string,
    /** Users of one kind do the same. */
    readonly kind: string,
    readonly client: RedisProcess,
    private readonly world: RedisWorld,
    private readonly acts: Acts<RedisGuest>,
  ) {}

  /** Asks for the lock; if it is granted, holds it for a while, and releases it. */
  async visit(lock: AskedLock, { how, inside, outer }: Stay = {}): Promise<void> {
    const { client, world } = this;
    const { judge } = world;
    const isTry = how === 'tries';
    await this.#turn(`${isTry ? 'tries' : 'asks for'} ${lock.title}`);
    const request = judge.began(client, lock, isTry, undefined, outer);
    const abort = new AbortController();
    const giveUp = () => {
      request.abortedAt = world.clock.now();
      abort.abort();
    };
    const stop = how === 'may give up' ? this.acts.offer(this, 'gives up', giveUp) : () => {};
    try {
      const { signal } = abort;
      const target = lock.of(client.locks);
      const lease = await (isTry ? target.tryAcquire({ signal }) : target.acquire({ signal }));
      stop();
      if (lease === undefined) judge.ended(request, 'refused');
      else await this.#hold(judge.granted(request, lease, true), lease, inside);
    } catch (error) {
      stop();
      judge.failed(request, error);
    }
  }

  /** Extends the lease, and does not wait for the answer: it may do something else before. */
  async extend(hold: ObservedHold, length: number): Promise<void> {
    await this.#turn(`extends its lease to ${length} ms`);
    this.world.judge.extending(hold, length);
    hold.lease.extend(length).catch(() => {});
  }

  /** Writes by that lease, and does not wait for the answer. */
  async write({ lock, lease }: ObservedHold): Promise<void> {
    await this.#turn('writes');
    const { effects } = this.world.judge;
    const { redisKey } = lock.name;
    effects.writing(redisKey);
    const write = redisCommands([['incr', writtenKey(redisKey)]]);
    lease.guard(write).then(
      ([count]) => effects.wrote(redisKey, Number(count)),
      () => {}, // the outcome may be unknown
    );
  }

  /** Never rejects: what fails while it is held is the fault of the network. */
  async #hold(holds: readonly ObservedHold[], lease: Lease, inside: Stay['inside']): Promise<void> {
    const { judge } = this.world;
    for (const hold of holds)
      if (hold.lock.isFenced)
        await lease.fencingToken().then(
          (token) => judge.effects.fenced(hold, token),
          () => {},
        );
    if (inside) await lease.run(() => inside(holds)).catch(() => {}); // it was lost
    await this.#turn('releases it');
    for (const hold of holds) judge.releasing(hold);
    await lease.release();
  }

  #turn(what: string): Promise<void> {
    return new Promise((resolve) => void this.acts.offer(this, what, resolve));
  }
}
