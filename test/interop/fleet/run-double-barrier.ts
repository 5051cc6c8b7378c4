import { TestClient } from '../../integration/support/test-client.js';
import type { ZooKeeperEnsemble } from '../../support/zookeeper-ensemble.js';
import { doubleBarrierRound } from '../support/double-barrier-round.js';
import { MixedPeers } from './mixed-peers.js';

const PATH = '/double-barrier';

/**
 * Makes three Node and three Java processes enter and leave a double barrier that many times, each time another one as the
 * last. Rejects when one of them gets through before all have entered, or have left.
 */
export async function runDoubleBarrier(ensemble: ZooKeeperEnsemble, rounds: number): Promise<void> {
  const peers = await MixedPeers.start(ensemble);
  const stranger = await TestClient.connect(ensemble.connectString);
  try {
    for (let round = 0; round < rounds; round++) {
      const { all } = peers;
      const order = all.map((_, n) => all[(n + round) % all.length]!);
      // A Curator member works for one round only.
      const members = order.map((peer, n) =>
        peer.barrier(`doubleBarrier#${order.length}#${round}-${n}:${PATH}`),
      );
      await doubleBarrierRound(members, PATH, stranger);
    }
  } finally {
    await Promise.all([peers.stop(), stranger.locks.close()]);
  }
}
