import TestSequencer from '@jest/test-sequencer';

const isSimulation = ({ path }) => path.includes('/test/simulation/');

/**
 * As Jest, but the simulations come first: they make much garbage, and take several times as long in a worker whose heap is
 * full of the modules of other test files.
 */
export default class SimulationsFirst extends TestSequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    return [...sorted.filter(isSimulation), ...sorted.filter((test) => !isSimulation(test))];
  }
}
