import { countedSemaphore } from '../locks/counted-semaphore.js';
import type { Schedule } from '../schedule.js';
import { simulate } from '../simulate.js';

export const schedule: Schedule = (seed) =>
  simulate(seed, (world, dice) => [countedSemaphore(world, 'a', dice.integer(2, 4))]);
