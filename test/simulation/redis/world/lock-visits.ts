import type { Lease } from '../../../../lib/core/lease.js';
import type { RedisAcquireOptions } from '../../../../lib/redis/locks/redis-lease.js';
import { redisCommands } from '../../../../lib/redis/redis-write.js';
import type { Dice } from '../../dice.js';
import { Timing } from '../../timing.js';
import type { ObservedHold, Request } from './observed-calls.js';
import type { AskedLock, ObservedLock } from './observed-locks.js';
import type { RedisProcess } from './redis-process.js';
import type { RedisUser } from './redis-user.js';
import type { RedisWorld } from './redis-world.js';

export interface Nature {
  /** How likely a holder is to set its lease anew, again and again, in [0, 1). */
  readonly restlessness: number;
  /** How likely one that waits is to give up just when the lock is released, so that it may be woken meanwhile, in [0, 1). */
  readonly impatience: number;
  /** How likely a holder is to make a guarded write, and another one, in [0, 1). */
  readonly diligence: number;
  /** How likely a holder is to ask for what it holds in the scope of that, and so on, in [0, 1). */
  readonly nesting: number;
  /** How long they wait at most, in ms; default: without bound. */
  readonly longestWait?: number;
  /** How long they stay away at most, in ms. */
  readonly pauses: readonly number[];
}

/** Key of what the holders of a lock count. */
export const writtenKey = (redisKey: string) => `written:{${redisKey}}`;

/** What a user does with locks, one visit after the other. */
export class LockVisits {
  constructor(
    private readonly world: RedisWorld,
    private readonly client: RedisProcess,
    private readonly locks: readonly AskedLock[],
    private readonly nature: Nature,
    private readonly user: RedisUser,
  ) {}

  next(dice: Dice): Promise<void> {
    return this.#visit(dice.pick(this.locks), dice);
  }

  /** @param inside what it holds already */
  async #visit(lock: AskedLock, dice: Dice, inside: readonly ObservedHold[] = []): Promise<void> {
    const { client, world, nature } = this;
    const { judge } = world;
    const isTry = dice.chance(0.2);
    const wait = dice.chance(0.3) ? dice.pick([5, 30, 300, 3_000]) : nature.longestWait;
    const options = this.#options(wait, dice);
    const request = judge.began(client, lock, isTry, wait, inside);
    const [signal, stopAbort] = this.#mayGiveUp(request, dice);
    try {
      const asked = { ...options, signal };
      const target = lock.of(client.locks);
      const lease = await (isTry ? target.tryAcquire(asked) : target.acquire(asked));
      stopAbort();
      if (lease === undefined) judge.ended(request, 'refused');
      else
        await this.#hold(
          judge.granted(request, lease, options.lease === undefined),
          request.lock,
          lease,
          dice,
        );
    } catch (error) {
      stopAbort();
      judge.failed(request, error);
    }
  }

  /** Returns a signal that may abort the request, and a function after which it does not. */
  #mayGiveUp(request: Request, dice: Dice): [AbortSignal, () => void] {
    const { client, world, nature } = this;
    const abort = new AbortController();
    const stops: (() => void)[] = [];
    const giveUpAfter = (ms: number) => {
      const onTime = () => {
        request.abortedAt = world.clock.now();
        abort.abort();
      };
      const timer = client.process.setTimer(onTime, ms);
      stops.push(() => timer.cancel());
    };
    if (dice.chance(0.25)) giveUpAfter(dice.time(2_000));
    if (nature.impatience > 0) {
      const hear = (lock: ObservedLock) => {
        if (request.lock.parts.includes(lock) && dice.chance(nature.impatience))
          giveUpAfter(dice.time(2 * Timing.latency));
      };
      world.releaseListeners.add(hear);
      stops.push(() => world.releaseListeners.delete(hear));
    }
    return [abort.signal, () => stops.forEach((stop) => stop())];
  }

  #options(wait: number | undefined, dice: Dice): RedisAcquireOptions {
    const { watchdogTimeout } = this.client;
    const lease = dice.chance(0.25)
      ? Math.round(dice.between(0.2, 2) * watchdogTimeout)
      : undefined;
    const maxHold = dice.chance(0.1) ? 1 + dice.time(2 * watchdogTimeout) : undefined;
    return { wait, lease, maxHold };
  }

  /** Never rejects: what fails while it is held is the fault of the network. */
  async #hold(
    holds: readonly ObservedHold[],
    asked: AskedLock,
    lease: Lease,
    dice: Dice,
  ): Promise<void> {
    const { client, world, nature } = this;
    const stay = dice.pick([0, 0, 0.02, 0.05, 0.5, 1.5]) * client.watchdogTimeout;
    for (const hold of holds)
      if (hold.lock.isFenced)
        await lease.fencingToken().then(
          (token) => world.judge.effects.fenced(hold, token),
          () => {},
        );
    while (nature.diligence > 0 && dice.chance(nature.diligence)) await this.#write(holds[0]!);
    const nested = this.#nest(holds, asked, lease, dice.fork('inside'));
    await client.sleep(dice.time(stay));
    while (!this.user.isToStop && dice.chance(nature.restlessness)) {
      await this.#extend(holds.length > 1 ? dice.pick(holds) : holds[0]!, dice);
      if (dice.chance(0.5)) await client.sleep(dice.time(stay)); // else again at once
    }
    if (nature.nesting > 0 && dice.chance(0.5)) await nested;
    for (const hold of holds) {
      world.judge.releasing(hold);
      for (const hear of world.releaseListeners) hear(hold.lock);
    }
    await lease.release();
    await nested;
  }

  /** Asks again in the scope of the lease; which of the leases ends first is not said. */
  async #nest(
    holds: readonly ObservedHold[],
    { inside }: AskedLock,
    lease: Lease,
    dice: Dice,
  ): Promise<void> {
    if (inside.length === 0 || !dice.chance(this.nature.nesting)) return;
    const visit = () => this.#visit(dice.pick(inside), dice, holds);
    await lease.run(visit).catch(() => {}); // it was lost
  }

  async #write({ lock, lease }: ObservedHold): Promise<void> {
    const { effects } = this.world.judge;
    const { redisKey } = lock.name;
    effects.writing(redisKey);
    const write = redisCommands([['incr', writtenKey(redisKey)]]);
    await lease.guard(write).then(
      ([count]) => effects.wrote(redisKey, Number(count)),
      () => {}, // the outcome may be unknown
    );
  }

  async #extend(hold: ObservedHold, dice: Dice): Promise<void> {
    const { client, world } = this;
    const length = Math.round(
      dice.pick([0.2, 1, 4]) * dice.between(0.5, 1) * client.watchdogTimeout,
    );
    world.judge.extending(hold, length);
    await hold.lease.extend(length).catch(() => {});
  }
}
