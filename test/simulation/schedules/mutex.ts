import { mutex } from '../locks/mutex.js';
import type { Schedule } from '../schedule.js';
import { simulate } from '../simulate.js';

export const schedule: Schedule = (seed) =>
  simulate(seed, (world, dice) =>
    dice.pick([['a'], ['a'], ['a', 'b']]).map((key) => mutex(world, key)),
  );
