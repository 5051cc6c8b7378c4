import { CreateMode } from '../../../lib/zookeeper/connection/create-mode.js';
import { TestClient } from '../../integration/support/test-client.js';
import { eventually } from '../../support/eventually.js';
import type { ZooKeeperEnsemble } from '../../support/zookeeper-ensemble.js';
import type { CuratorRelease } from '../support/curator-build.js';
import type { Peer } from '../support/peer.js';
import { startCuratorPeer } from '../support/start-curator-peer.js';
import { startNodePeer } from '../support/start-node-peer.js';
import type { Accident } from './accident.js';
import { FleetObserver } from './fleet-observer.js';
import type { FleetReport } from './fleet-report.js';
import { History } from './history.js';
import type { Recipe } from './recipe.js';
import { znodesBelow } from '../support/znodes-below.js';

/** Processes of each language. */
const SIZE = 4;
const ROOT = '/fleet';

/** Node and Java processes that contend for the same locks, each with one worker. */
export class Fleet {
  private runs = 0;

  private constructor(
    private readonly ensemble: ZooKeeperEnsemble,
    private readonly stranger: TestClient,
    private readonly peers: ReadonlyMap<string, Peer>,
  ) {}

  /** Resolves when all of them are connected. */
  static async start(
    ensemble: ZooKeeperEnsemble,
    release: CuratorRelease,
    sessionTimeout: number,
  ): Promise<Fleet> {
    const { connectString } = ensemble;
    const stranger = await TestClient.connect(connectString, { sessionTimeout: 30_000 });
    await makeDirectory(ROOT, stranger);
    const peers = new Map<string, Peer>();
    for (let n = 1; n <= SIZE; n++) {
      peers.set(`node${n}`, await startNodePeer(connectString, sessionTimeout));
      peers.set(`java${n}`, await startCuratorPeer(release, connectString, sessionTimeout));
    }
    return new Fleet(ensemble, stranger, peers);
  }

  /** Has all of them work with one lock until the accident is over. */
  async run(recipe: Recipe, accident: Accident): Promise<FleetReport> {
    const { ensemble, stranger, peers } = this;
    const before = await this.traces();
    const path = `${ROOT}/${++this.runs}`;
    // They stay until the end: had they been collected while empty, the numbers would begin anew.
    const directories = [path, ...recipe.directories.map((name) => `${path}/${name}`)];
    for (const directory of directories) await makeDirectory(directory, stranger);
    const locks = new Map(
      [...this.peers.keys()].map((name, n) => [name, recipe.lock(path, n >> 1)]),
    );
    const history = new History(recipe, locks);
    const observer = await FleetObserver.start(history);
    const work = [...peers].map(([name, peer]) =>
      peer.actor().work(locks.get(name)!, observer.port, name),
    );
    await Promise.race([
      accident.happen({ ensemble, peers, path, history, observer, stranger }),
      Promise.all(work), // rejects when one of them dies
    ]);
    await Promise.all([...peers.values()].map((peer) => peer.actor().rest()));
    const failures = await Promise.all(work);
    await observer.stop();
    return {
      recipe: recipe.name,
      accident: accident.name,
      grants: Object.fromEntries(
        [...locks.keys()].map((name) => [name, history.grants.get(name) ?? 0]),
      ),
      faults: history.faults,
      losses: history.losses,
      failures: failures.reduce((sum, count) => sum + count, 0),
      before,
      after: await this.tracesOnceAs(before, directories),
    };
  }

  /** Ends all processes. */
  async stop(): Promise<void> {
    await Promise.all([...this.peers.values()].map((peer) => peer.stop()));
    await this.stranger.locks.close();
  }

  /** What the fleet leaves behind takes a while to go; the last look, when it does not. */
  private async tracesOnceAs(before: string, directories: readonly string[]): Promise<string> {
    let seen = '';
    const isClean = async () => {
      for (const directory of directories.toReversed())
        await this.stranger.connection.delete(directory).catch(() => {}); // not empty: that is seen
      seen = await this.traces();
      return seen === before;
    };
    return eventually('nothing is left behind', isClean).then(
      () => seen,
      () => seen,
    );
  }

  /** All znodes, and how many watches the servers keep. */
  private async traces(): Promise<string> {
    await this.stranger.connection.sync(ROOT);
    const znodes = await znodesBelow(ROOT, this.stranger.connection);
    const answers = await Promise.all(
      this.ensemble.servers.map((server) => server.fourLetterWord('wchs')),
    );
    const watches = answers.map((answer) => Number(/Total watches:(\d+)/.exec(answer)?.[1]));
    return [...znodes, `${watches.reduce((sum, count) => sum + count, 0)} watches`].join('\n');
  }
}

async function makeDirectory(path: string, { connection }: TestClient): Promise<void> {
  await connection.create(path, Buffer.alloc(0), CreateMode.PERSISTENT);
}
