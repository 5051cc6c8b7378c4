import { ZooKeeperEnsemble } from '../../support/zookeeper-ensemble.js';
import { runDoubleBarrier } from './run-double-barrier.js';
import { runCounters } from './run-counters.js';
import { ElectionFleet } from './election-fleet.js';

const SESSION_TIMEOUT = 2_000;
/** One strike every 3 s for a minute. */
const STRIKES = 20;
const TIMES = 1_000;
const ROUNDS = 30;

/**
 * The full runs of leader election, counters and barriers, by the arguments that select them; each resolves to whether all is
 * well.
 */
export const ELECTIONS = {
  async election(): Promise<boolean> {
    const options = { sessionTimeout: SESSION_TIMEOUT, strikes: STRIKES };
    const report = await onEnsemble((ensemble) => ElectionFleet.run(ensemble, options));
    const { terms, claims, unknowing, kills, freezes, faults, vacancies } = report;
    const worst = Math.max(...vacancies);
    const isWell =
      faults.length === 0 &&
      worst <= SESSION_TIMEOUT + 1_000 &&
      report.isWhole &&
      report.leftBehind.length === 0;
    console.log(
      [
        `ZooKeeper, election, sessions of ${SESSION_TIMEOUT} ms: ${kills} killed, ${freezes} frozen`,
        `${terms.length} terms (${terms.map(({ worker }) => worker).join(' ')})`,
        `${claims} claims, ${unknowing} of Java processes just thawed that only the token shows`,
        `${faults.length} faults${faults.map((fault) => `\n  ${fault}`).join('')}`,
        `a new leader after ${vacancies.join(', ')} ms, at worst ${worst}`,
        report.isWhole ? 'all stand in the end' : 'NOT ALL STAND',
        report.leftBehind.length === 0
          ? 'nothing left behind'
          : `LEFT: ${report.leftBehind.join()}`,
      ].join(' | '),
    );
    return isWell;
  },

  async counters(): Promise<boolean> {
    const { sums, failures, duration } = await onEnsemble((it) => runCounters(it, TIMES));
    const text = sums.map((sum) => sum.join('=')).join(', ');
    console.log(
      `ZooKeeper, counters: ${TIMES} from each side | ${text} | ${failures} done again | ${duration} ms`,
    );
    return sums.flat().every((sum) => sum === String(2 * TIMES));
  },

  async barrier(): Promise<boolean> {
    await onEnsemble((ensemble) => runDoubleBarrier(ensemble, ROUNDS));
    console.log(`ZooKeeper, double barrier of 3 + 3: ${ROUNDS} rounds, all in and out together`);
    return true;
  },
};

async function onEnsemble<T>(run: (ensemble: ZooKeeperEnsemble) => Promise<T>): Promise<T> {
  const ensemble = await ZooKeeperEnsemble.start();
  try {
    return await run(ensemble);
  } finally {
    await ensemble.stop();
  }
}
