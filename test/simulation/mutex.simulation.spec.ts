import { mutex } from './locks/mutex.js';
import { simulationSuite } from './simulation-suite.js';

simulationSuite(
  'A mutex in random accidents',
  (world, dice) => dice.pick([['a'], ['a'], ['a', 'b']]).map((key) => mutex(world, key)),
  ['re-entered'],
);
