import type { Dice } from '../dice.js';
import { mutexRule } from '../locks/mutex-rule.js';
import { runSchedule, type Play } from '../run-schedule.js';
import type { World } from '../world.js';
import { CountFollower } from './count-follower.js';
import { CounterJudge } from './counter-judge.js';
import { CounterUser } from './counter-user.js';

const PATH = '/locks/number';

/**
 * One random schedule of a number that all clients change; one of 32 bits is also a shared count.
 *
 * @returns how often each kind of event happened
 * @throws when a promise is broken
 */
export function simulateCounter(seed: number, bits: 32 | 64): Promise<ReadonlyMap<string, number>> {
  return runSchedule(seed, (world, dice, duration) => begin(world, dice, duration, bits), false);
}

function begin(world: World, dice: Dice, duration: number, bits: 32 | 64): Play {
  world.observe(`${PATH}-lock`, mutexRule);
  const judge = new CounterJudge(world, PATH, bits);
  const inside = new Set<CounterUser>();
  for (const client of world.clients) {
    const follower = bits === 32 ? new CountFollower(world, judge, client) : undefined;
    for (let left = dice.integer(1, 2); left > 0; left--) {
      const user = new CounterUser({ client, judge, dice, follower });
      inside.add(user);
      user.live(duration).then(
        () => void inside.delete(user),
        (error: Error) => world.history.accuse(`the code of a user fails: ${error.stack}`),
      );
    }
  }
  return { isOver: () => [...inside].every(({ client }) => client.process.isDead) };
}
