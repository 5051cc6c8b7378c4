import { readWriteLock } from './locks/read-write-lock.js';
import { simulationSuite } from './simulation-suite.js';

simulationSuite(
  'A read/write lock in random accidents',
  (world, dice) => {
    const { read, write } = readWriteLock(world, 'a');
    return dice.pick([
      [read, write],
      [read, read, read, write],
    ]);
  },
  ['re-entered', 'downgraded', 'failed with LOCK_UPGRADE'],
);
