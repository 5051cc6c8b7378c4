import type { Dice } from './dice.js';
import { isAllOf, Visitor, type Wish } from './guests.js';
import type { SimulatedLock } from './locks.js';
import type { Visit } from './operation.js';
import { Company, runSchedule, type Schedule } from './run-schedule.js';
import type { World } from './world.js';

/** The most acquires that are one inside of another. */
const DEPTH = 4;
/** Within so many ms all callers come, and start what they do inside. */
const RUSH = 50;

/**
 * Random schedules in which callers share few clients, and come at the same time: so a client has several nodes in one queue,
 * and goes by what it has learned for others of them when one leaves.
 */
export function scheduleOfCrowds(
  lay: (world: World, dice: Dice) => readonly SimulatedLock[],
): Schedule {
  const begin = (world: World, dice: Dice, duration: number) => {
    const locks = lay(world, dice);
    const company = new Company(world);
    const pause = dice.pick([500, 1_000]);
    for (let left = dice.integer(2, 6); left > 0; left--) {
      const client = dice.pick(world.clients);
      const visitors = locks.map((lock) => new Visitor(world.judge, client, lock));
      company.add(client, new Caller(visitors, dice).live(duration, pause));
    }
    return company;
  };
  return (seed) => runSchedule(seed, begin, { clients: [1, 3] });
}

/** Comes with the others, holds briefly, acquires locks inside of locks, and mostly gives up soon. */
class Caller {
  constructor(
    private readonly visitors: readonly Visitor[],
    private readonly dice: Dice,
  ) {}

  async live(until: number, pause: number): Promise<void> {
    const { client } = this.visitors[0]!;
    while (client.closedAt === undefined && client.process.now() < until) {
      await client.sleep(pause - (client.process.now() % pause) + this.dice.time(RUSH));
      await this.#enter();
    }
  }

  async #enter(outer?: Visit, depth = 1): Promise<void> {
    const visitor = this.dice.pick(this.visitors);
    const stay = (visit: Visit) => this.#stay(visitor, visit, depth);
    await visitor.using(stay, this.#wish(visitor.lock, outer), outer);
  }

  async #stay({ client }: Visitor, visit: Visit, depth: number): Promise<void> {
    const { dice } = this;
    await client.sleep(dice.time(dice.pick([0, RUSH / 2])));
    const inside = depth < DEPTH && dice.chance(0.8) ? dice.integer(1, 2) : 0;
    await Promise.all(Array.from({ length: inside }, () => this.#enter(visit, depth + 1)));
    await client.sleep(dice.time(dice.pick([0, 50, 200])));
  }

  /** Inside of other locks it does not wait forever: others may wait in reverse. */
  #wish({ queue, isReentrant }: SimulatedLock, outer: Visit | undefined): Wish {
    const { dice } = this;
    const isPatient = outer === undefined || (isReentrant && isAllOf(queue, outer));
    if (isPatient && dice.chance(0.4)) return {};
    const limit = dice.time(dice.pick([50, 100, 200]));
    return dice.chance(0.5) ? { wait: 10 + limit } : { wait: 1_000, abortAfter: limit };
  }
}
