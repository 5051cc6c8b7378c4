import TestSequencer from '@jest/test-sequencer';

/** The first that fits a file says when its turn comes: what takes the longest begins first, so that no worker ends late. */
const TURNS = [
  /\/contract\/(?:.*\.servers|embedded)\.spec/, // a deployment with all of its suites
  /\/redis\/(?:locks|permits)\./,
  /\/simulation\//,
  /\/(?:faults|redis|storm)\/|\.servers\.spec/,
];

/** As Jest's, which goes by the durations of the last run and in a fresh clone by the sizes of the files, in these turns. */
export default class LongestFirst extends TestSequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    const turns = Array.from({ length: TURNS.length + 1 }, () => []);
    for (const test of sorted) {
      const turn = TURNS.findIndex((pattern) => pattern.test(test.path));
      turns[turn < 0 ? TURNS.length : turn].push(test);
    }
    return turns.flat();
  }
}
