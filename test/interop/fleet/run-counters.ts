import type { ZooKeeperEnsemble } from '../../support/zookeeper-ensemble.js';
import { MixedPeers } from './mixed-peers.js';

const COUNTERS = Array.from({ length: 8 }, (_, n) =>
  n % 2 === 0 ? `long:/counters/${n}` : `integer:/counters/${n}`,
);

/** Result of counters that Node and Java incremented at the same time. */
export interface CounterReport {
  /** Value of each counter, as Node and as Java see it in the end. */
  readonly sums: readonly (readonly [string, string])[];
  /** How often an increment did not succeed, as reported by the libraries, and was repeated. */
  readonly failures: number;
  /** In ms. */
  readonly duration: number;
}

/** Makes three Node and three Java processes add 1 to eight counters, to each of them `times` times in each language. */
export async function runCounters(
  ensemble: ZooKeeperEnsemble,
  times: number,
): Promise<CounterReport> {
  const peers = await MixedPeers.start(ensemble);
  const usersOf = (counter: string, n: number) => [
    peers.node(n).atomicNumber(counter),
    peers.java(n).atomicNumber(counter),
  ];
  try {
    const since = performance.now();
    const failures = await Promise.all(
      COUNTERS.flatMap((counter, n) => usersOf(counter, n).map((user) => user.count(times))),
    );
    const duration = Math.round(performance.now() - since);
    const sums: [string, string][] = [];
    for (const [n, counter] of COUNTERS.entries()) {
      const [node, java] = usersOf(counter, n + 1); // others than those that incremented it
      // A read may be stale; the value that a change was based on is not.
      const ofNode = await node!.change('add', '0');
      const ofJava = await java!.change('add', '0');
      sums.push([ofNode.preValue, ofJava.preValue]);
    }
    return { sums, failures: failures.reduce((sum, count) => sum + count, 0), duration };
  } finally {
    await peers.stop();
  }
}
