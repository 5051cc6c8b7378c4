import { multiLock } from '../locks/multi-lock.js';
import { mutex } from '../locks/mutex.js';
import { readWriteLock } from '../locks/read-write-lock.js';
import { semaphore } from '../locks/semaphore.js';
import type { Schedule } from '../schedule.js';
import { simulate } from '../simulate.js';

export const schedule: Schedule = (seed) =>
  simulate(seed, (world, dice) => {
    const { read, write } = readWriteLock(world, 'c');
    const [a, b, c, d] = [
      mutex(world, 'a'),
      mutex(world, 'b'),
      dice.pick([read, write]),
      semaphore(world, 'd', 2),
    ];
    const wholes = dice.pick([
      [[a, b]],
      [[a, b, c, d]],
      [
        [a, b],
        [b, c],
      ],
      [
        [a, c],
        [b, c, d],
      ],
    ]);
    const some = dice.pick([[a], [b, c], [a, b, d]]);
    return [...wholes.map((parts) => multiLock(world, parts)), ...some];
  });
