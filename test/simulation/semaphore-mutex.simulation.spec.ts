import { semaphoreMutex } from './locks/semaphore-mutex.js';
import { simulationSuite } from './simulation-suite.js';

simulationSuite('A semaphore mutex in random accidents', (world, dice) =>
  dice.pick([['a'], ['a'], ['a', 'b']]).map((key) => semaphoreMutex(world, key)),
);
