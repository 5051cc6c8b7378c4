import { deepEqual, ok } from 'node:assert/strict';
import { TestClient } from '../../faults/support/test-client.js';
import { eventually } from '../../support/time.js';
import type { ZooKeeperEnsemble } from '../../support/zookeeper-ensemble.js';
import type { BarrierActor } from '../support/actors.js';
import type { Peer } from '../support/peer.js';

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

/**
 * Makes Node and Java processes add 1 to eight counters, to each of them `times` times in each language.
 *
 * @param peers the languages take turns
 */
export async function runCounters(peers: readonly Peer[], times: number): Promise<CounterReport> {
  const usersOf = (counter: string, n: number) =>
    [2 * n, 2 * n + 1].map((peer) => peers[peer % peers.length]!.atomicNumber(counter));
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
}

const PATH = '/double-barrier';

/**
 * Makes Node and Java processes enter and leave a double barrier that many times, each time another one as the last. Rejects
 * when one of them gets through before all have entered, or have left.
 */
export async function runDoubleBarrier(
  { connectString }: ZooKeeperEnsemble,
  peers: readonly Peer[],
  rounds: number,
): Promise<void> {
  const stranger = await TestClient.connect(connectString);
  try {
    for (let round = 0; round < rounds; round++) {
      const order = peers.map((_, n) => peers[(n + round) % peers.length]!);
      // A Curator member works for one round only.
      const members = order.map((peer, n) =>
        peer.barrier(`doubleBarrier#${order.length}#${round}-${n}:${PATH}`),
      );
      await doubleBarrierRound(members, PATH, stranger);
    }
  } finally {
    await stranger.locks.close();
  }
}

/**
 * Makes all members of a double barrier enter and leave, the last one each time only when all others are known to wait for it.
 * Rejects when a member is in before all have entered, or out before all have left.
 *
 * @param path where their nodes are
 */
export async function doubleBarrierRound(
  members: readonly BarrierActor[],
  path: string,
  stranger: TestClient,
): Promise<void> {
  const others = members.slice(0, -1);
  const last = members.at(-1)!;
  const through: BarrierActor[] = [];
  const go = (member: BarrierActor, how: 'enter' | 'leave') =>
    member[how](60_000).then((isThrough) => {
      through.push(member);
      return isThrough;
    });

  const entered = others.map((member) => go(member, 'enter'));
  await stranger.queue(path, others.length); // and no `ready` among them
  deepEqual(through, []);
  const all = members.map(() => true);
  deepEqual(await Promise.all([...entered, last.enter(60_000)]), all);
  ok((await stranger.children(path)).includes('ready'));

  through.length = 0;
  const left = others.map((member) => go(member, 'leave'));
  // The node of the last member stays, and the lowest, which waits for it.
  const othersWait = async () => {
    const nodes = (await stranger.children(path)).filter((name) => name !== 'ready');
    return nodes.length <= 2;
  };
  await eventually('all others wait', othersWait);
  deepEqual(through, []);
  deepEqual(await Promise.all([...left, last.leave(60_000)]), all);
  await stranger.queue(path, 0);
}
