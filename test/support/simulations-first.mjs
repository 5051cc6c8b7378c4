import TestSequencer from '@jest/test-sequencer';

const isSimulation = ({ path }) => path.includes('/test/simulation/');

/**
 * As Jest, but the simulations come first: they take the longest, and those that run in the worker itself make much garbage,
 * which takes several times as long when its heap is full of the modules of other test files.
 */
export default class SimulationsFirst extends TestSequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    return [...sorted.filter(isSimulation), ...sorted.filter((test) => !isSimulation(test))];
  }
}
