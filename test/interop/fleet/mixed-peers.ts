import type { ZooKeeperEnsemble } from '../../support/zookeeper-ensemble.js';
import type { Peer } from '../support/peer.js';
import { startCuratorPeer } from '../support/start-curator-peer.js';
import { startNodePeer } from '../support/start-node-peer.js';

/** Three Node and three Java processes on the same servers. */
export class MixedPeers {
  private constructor(
    private readonly nodes: readonly Peer[],
    private readonly javas: readonly Peer[],
  ) {}

  /** Resolves when all of them are connected. */
  static async start({ connectString }: ZooKeeperEnsemble): Promise<MixedPeers> {
    const [nodes, javas]: [Peer[], Peer[]] = [[], []];
    const peers = new MixedPeers(nodes, javas);
    try {
      for (let n = 0; n < 3; n++) {
        nodes.push(await startNodePeer(connectString));
        javas.push(await startCuratorPeer('5.9.0', connectString));
      }
    } catch (error) {
      await peers.stop();
      throw error;
    }
    return peers;
  }

  /** The languages take turns. */
  get all(): readonly Peer[] {
    return this.nodes.flatMap((node, n) => [node, this.javas[n]!]);
  }

  /** The Node process with that number; the fourth is the first again. */
  node(n: number): Peer {
    return this.nodes[n % this.nodes.length]!;
  }

  /** The Java process with that number; the fourth is the first again. */
  java(n: number): Peer {
    return this.javas[n % this.javas.length]!;
  }

  /** Ends all processes. */
  async stop(): Promise<void> {
    await Promise.all([...this.nodes, ...this.javas].map((peer) => peer.stop()));
  }
}
