import { countedSemaphore } from './locks/counted-semaphore.js';
import { simulationSuite } from './simulation-suite.js';

simulationSuite(
  'A semaphore with a shared count in random accidents',
  (world, dice) => [countedSemaphore(world, 'a', dice.integer(2, 4))],
  ['count changed'],
);
