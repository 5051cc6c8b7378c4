import type { Dice } from '../../dice.js';
import type { Plan } from './plan.js';
import type { RedisProcess } from './redis-process.js';
import type { RedisWorld } from './redis-world.js';

/** Someone who comes again and again, until the user is to stop. */
export class RedisUser<C extends Pick<RedisProcess, 'sleep' | 'closedAt'> = RedisProcess> {
  isToStop = false;
  isDone = false;

  constructor(
    private readonly name: string,
    private readonly world: Pick<RedisWorld, 'clock'>,
    readonly client: C,
    private readonly plan: Plan,
  ) {}

  stop(): void {
    this.isToStop = true;
  }

  /** @param pauses how long the user stays away at most, in ms */
  async live(
    dice: Dice,
    pauses: readonly number[],
    visit: (dice: Dice) => Promise<void>,
  ): Promise<void> {
    const { client, plan, world } = this;
    for (const { name, at } of plan.visitsOf(this.name)) {
      const drawn = dice.fork(name);
      const pause = drawn.time(drawn.pick(pauses));
      await client.sleep(at === undefined ? pause : Math.max(0, at - world.clock.now()));
      if (this.isToStop || client.closedAt !== undefined) break;
      plan.happens(name, world.clock.now());
      await visit(drawn);
    }
    this.isDone = true;
  }
}
