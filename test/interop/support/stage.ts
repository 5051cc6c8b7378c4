import { beforeEach, describe } from '@jest/globals';
import { TestClient } from '../../faults/support/test-client.js';
import { useShared } from '../../support/fixtures.js';
import { ZooKeeperServer } from '../../support/zookeeper-server.js';
import { CURATOR_RELEASES, curatorClassPath, type CuratorRelease } from './builds.js';
import { type Peer, Way } from './peer.js';
import { startCuratorPeer, startNodePeer } from './start-peers.js';

/** A server, a Node process, and a client that takes no part, to look at znodes: for all tests of a file. */
export class Backdrop {
  private tests = 0;

  private constructor(
    readonly server: ZooKeeperServer,
    readonly node: Peer,
    readonly stranger: TestClient,
  ) {}

  static async start(): Promise<Backdrop> {
    // Empty containers stay: the nodes of two locks must not differ by which container was collected already.
    const server = await ZooKeeperServer.start({ containerCheckIntervalMs: 3_600_000 });
    const { connectString } = server;
    return new Backdrop(
      server,
      ...(await Promise.all([startNodePeer(connectString), TestClient.connect(connectString)])),
    );
  }

  async stop(): Promise<void> {
    await Promise.all([this.node.stop(), this.stranger.locks.close()]);
    await this.server.stop();
  }

  unusedPath(): string {
    return `/interop/lock-${++this.tests}`;
  }
}

/** The Node process, and one in another language. */
export class Stage {
  /** Path of the lock of this test. */
  path = '';
  readonly ways = [
    new Way(
      'Node holds it',
      () => this.node,
      () => this.other,
    ),
    new Way(
      'the other language holds it',
      () => this.other,
      () => this.node,
    ),
  ];

  constructor(
    private readonly backdrop: () => Backdrop,
    private readonly otherOne: () => Peer,
  ) {}

  get node(): Peer {
    return this.backdrop().node;
  }

  /** The process in the other language. */
  get other(): Peer {
    return this.otherOne();
  }

  get stranger(): TestClient {
    return this.backdrop().stranger;
  }

  get connectString(): string {
    return this.backdrop().server.connectString;
  }

  /** Prepares the next test with an unused path. */
  reset(): void {
    this.path = this.backdrop().unusedPath();
  }

  /** Waits until so many nodes are at the path of this test, or below it, and returns their names in order. */
  queue(length: number, below = ''): Promise<string[]> {
    return this.stranger.queue(`${this.path}${below}`, length);
  }
}

/** The stage of the surrounding `describe`: a path of its own for each test. */
export function useStage(
  backdrop: () => Backdrop,
  startOther: (connect: string) => Promise<Peer>,
): Stage {
  const other = useShared(() => startOther(backdrop().server.connectString));
  const stage = new Stage(backdrop, other);
  beforeEach(() => stage.reset());
  return stage;
}

/**
 * Describes what the recipes do together with Java, once for each release of Curator. Where the Java peer was not built, its
 * tests are skipped, which `npm run test:interop` has reported.
 */
export function describeWithCurator(
  backdrop: () => Backdrop,
  define: (stage: Stage, release: CuratorRelease) => void,
): void {
  for (const release of CURATOR_RELEASES) {
    const isBuilt = curatorClassPath(release) !== undefined;
    (isBuilt ? describe : describe.skip)(`Shared with Curator ${release},`, () => {
      define(
        useStage(backdrop, (connect) => startCuratorPeer(release, connect)),
        release,
      );
    });
  }
}
