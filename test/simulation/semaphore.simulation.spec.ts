import { semaphore } from './locks/semaphore.js';
import { simulationSuite } from './simulation-suite.js';

simulationSuite('A semaphore in random accidents', (world, dice) => [
  semaphore(world, 'a', dice.integer(1, 4)),
]);
