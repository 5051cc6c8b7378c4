import { semaphore } from '../locks/semaphore.js';
import type { Schedule } from '../schedule.js';
import { simulate } from '../simulate.js';

export const schedule: Schedule = (seed) =>
  simulate(seed, (world, dice) => [semaphore(world, 'a', dice.integer(1, 4))]);
