import { readWriteLock } from '../locks/read-write-lock.js';
import type { Schedule } from '../schedule.js';
import { simulate } from '../simulate.js';

export const schedule: Schedule = (seed) =>
  simulate(seed, (world, dice) => {
    const { read, write } = readWriteLock(world, 'a');
    return dice.pick([
      [read, write],
      [read, read, read, write],
    ]);
  });
