import TestSequencer from '@jest/test-sequencer';

/** The files that only compute, for a minute and longer: the first that fits one says when its turn comes. */
const COMPUTING = [/schedules\.spec/, /exploration\.spec/, /\/simulation\//];

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
    const computing = inTurns(sorted, COMPUTING);
    const waiting = inTurns(without(computing, sorted), WAITING);
    const others = without(waiting, without(computing, sorted));
    const longest = waiting.splice(0, waiting.length / 4); // with these alone the machine is busy
    return spread(others, [...longest, ...spread(computing, waiting)]);
  }
}

/** Those that fit one of the patterns, in the order of these. */
function inTurns(tests, patterns) {
  const turnOf = ({ path }) => patterns.findIndex((each) => each.test(path));
  return patterns.flatMap((_, turn) => tests.filter((test) => turnOf(test) === turn));
}

const without = (some, all) => all.filter((each) => !some.includes(each));

/** Some evenly among the others. */
function spread(some, others) {
  const share = some.length / Math.max(1, others.length);
  const shareOf = (i) => some.slice(Math.ceil(i * share), Math.ceil((i + 1) * share));
  return others.length === 0 ? some : others.flatMap((each, i) => [each, ...shareOf(i)]);
}
