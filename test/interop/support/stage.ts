import { TestClient } from '../../integration/support/test-client.js';
import { ZooKeeperServer } from '../../support/zookeeper-server.js';
import type { Peer } from './peer.js';
import { startNodePeer } from './start-node-peer.js';

/** A server, a Node process, and one in another language. */
export class Stage {
  node!: Peer;
  /** The process in the other language. */
  other!: Peer;
  /** A client that takes no part, to look at znodes. */
  stranger!: TestClient;
  private server!: ZooKeeperServer;
  private tests = 0;

  async start(startOther: (connect: string) => Promise<Peer>): Promise<void> {
    // Empty containers stay: the nodes of two locks must not differ by which container was collected already.
    this.server = await ZooKeeperServer.start({ containerCheckIntervalMs: 3_600_000 });
    const { connectString } = this;
    [this.node, this.other, this.stranger] = await Promise.all([
      startNodePeer(connectString),
      startOther(connectString),
      TestClient.connect(connectString),
    ]);
  }

  async stop(): Promise<void> {
    await Promise.all([this.node?.stop(), this.other?.stop(), this.stranger?.locks.close()]);
    await this.server?.stop();
  }

  get connectString(): string {
    return this.server.connectString;
  }

  /** Prepares the next test with an unused path. */
  reset(): void {
    this.tests += 1;
  }

  /** Path of the lock of this test. */
  get path(): string {
    return `/interop/lock-${this.tests}`;
  }

  /** The process that comes first, for `it.each`; the processes exist once a test runs. */
  readonly ways = [
    { title: 'Node holds it', isNode: true, first: () => this.node, second: () => this.other },
    {
      title: 'the other language holds it',
      isNode: false,
      first: () => this.other,
      second: () => this.node,
    },
  ];
}
