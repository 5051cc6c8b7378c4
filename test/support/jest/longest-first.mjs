import TestSequencer from '@jest/test-sequencer';

const SIMULATIONS = /\/simulation\//;

/** The files that wait for servers most of the time: the first that fits one says when its turn comes. */
const WAITING = [
  /\/contract\/(?:.*\.servers|embedded)\.spec/, // a deployment with all of its suites
  /\/redis\/(?:locks|permits)\./,
  // Short files whose tests take half a minute and more.
  /\/e2e\/(?:samples|failed-boot|draining|run-once|terminated)\.servers/,
  /\/(?:renewal-worker|session-worker|ensemble|wire|failover|processes|leaks|storm|lost-updates|blocked-event-loop)\.(?:servers\.)?spec/,
  /\/(?:faults|redis|storm)\/|\.servers\.spec/,
];

/**
 * As Jest's, which goes by the durations of the last run and in a fresh clone by the sizes of the files; but what takes the
 * longest begins first in any case, so that no worker ends late, and the files that only compute are spread among those that
 * wait, so that the machine is busy all the time.
 */
export default class LongestFirst extends TestSequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    const isSimulation = ({ path }) => SIMULATIONS.test(path);
    const turnOf = (test) =>
      isSimulation(test) ? -1 : WAITING.findIndex((each) => each.test(test.path));
    const waiting = WAITING.flatMap((_, turn) => sorted.filter((test) => turnOf(test) === turn));
    const computing = sorted.filter((test) => turnOf(test) < 0);
    const simulations = computing.filter(isSimulation);
    return spread([...simulations, ...computing.filter((test) => !isSimulation(test))], waiting);
  }
}

/** Some evenly among the others. */
function spread(some, others) {
  const share = some.length / Math.max(1, others.length);
  const shareOf = (i) => some.slice(Math.ceil(i * share), Math.ceil((i + 1) * share));
  return others.length === 0 ? some : others.flatMap((each, i) => [each, ...shareOf(i)]);
}
