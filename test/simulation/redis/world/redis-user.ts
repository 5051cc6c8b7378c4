import type { Lease } from '../../../../lib/core/lease.js';
import type { RedisAcquireOptions, RedisLease } from '../../../../lib/redis/locks/redis-lease.js';
import type { Dice } from '../../dice.js';
import type { ObservedLock } from './observed-locks.js';
import type { ObservedHold } from './redis-judge.js';
import type { RedisProcess } from './redis-process.js';
import type { RedisWorld } from './redis-world.js';

/** Someone who asks for locks again and again, until the user is to stop. */
export class RedisUser {
  #isToStop = false;
  isDone = false;

  constructor(
    private readonly world: RedisWorld,
    readonly client: RedisProcess,
    private readonly locks: readonly ObservedLock[],
    private readonly dice: Dice,
    /** How likely a holder is to set its lease anew, again and again, in [0, 1). */
    private readonly restlessness: number,
  ) {}

  stop(): void {
    this.#isToStop = true;
  }

  async live(): Promise<void> {
    const { dice, client } = this;
    while (!this.#isToStop && client.closedAt === undefined) {
      await client.sleep(dice.time(dice.pick([0, 20, 200, 2_000])));
      await this.#visit(dice.pick(this.locks));
    }
    this.isDone = true;
  }

  async #visit(lock: ObservedLock): Promise<void> {
    const { dice, client, world } = this;
    const { judge } = world;
    const isTry = dice.chance(0.2);
    const wait = dice.chance(0.3) ? dice.pick([5, 30, 300, 3_000]) : undefined;
    const options = this.#options(wait);
    const abort = new AbortController();
    const request = judge.began(client, lock, isTry, wait);
    let stopAbort = () => {};
    if (dice.chance(0.25)) {
      const onTime = () => {
        request.abortedAt = world.clock.now();
        abort.abort();
      };
      const timer = client.process.setTimer(onTime, dice.time(2_000));
      stopAbort = () => timer.cancel();
    }
    try {
      const asked = { ...options, signal: abort.signal };
      const target = lock.of(client.locks);
      const lease = await (isTry ? target.tryAcquire(asked) : target.acquire(asked));
      stopAbort();
      if (lease === undefined) judge.refused(request);
      else await this.#hold(judge.granted(request, lease, options.lease === undefined), lease);
    } catch (error) {
      stopAbort();
      judge.failed(request, error);
    }
  }

  #options(wait: number | undefined): RedisAcquireOptions {
    const { dice } = this;
    const { watchdogTimeout } = this.client;
    const lease = dice.chance(0.25)
      ? Math.round(dice.between(0.2, 2) * watchdogTimeout)
      : undefined;
    const maxHold = dice.chance(0.1) ? 1 + dice.time(2 * watchdogTimeout) : undefined;
    return { wait, lease, maxHold };
  }

  /** Never rejects: what fails while it is held is the fault of the network. */
  async #hold(hold: ObservedHold, lease: Lease): Promise<void> {
    const { dice, client, world } = this;
    const stay = dice.pick([0, 0, 0.02, 0.05, 0.5, 1.5]) * client.watchdogTimeout;
    if (hold.lock.isFenced)
      await lease.fencingToken().then(
        (token) => world.judge.fenced(hold, token),
        () => {},
      );
    await client.sleep(dice.time(stay));
    while (!this.#isToStop && dice.chance(this.restlessness)) {
      await this.#extend(lease as RedisLease);
      await client.sleep(dice.time(stay));
    }
    world.judge.releasing(hold);
    await lease.release();
  }

  async #extend(lease: RedisLease): Promise<void> {
    const { dice, client, world } = this;
    const length = Math.round(dice.between(0.1, 2) * client.watchdogTimeout);
    world.history.note('extended', `${lease.holder} ${length}`);
    await lease.extend(length).catch(() => {});
  }
}
