import { CreateMode } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { TestClient } from '../../integration/support/test-client.js';
import { eventually } from '../../support/eventually.js';
import type { ZooKeeperEnsemble } from '../../support/zookeeper-ensemble.js';
import type { CuratorRelease } from '../support/curator-build.js';
import type { Peer } from '../support/peer.js';
import { startCuratorPeer } from '../support/start-curator-peer.js';
import { startNodePeer } from '../support/start-node-peer.js';
import { znodesBelow } from '../support/znodes-below.js';
import type { Ground } from './ground.js';
import type { Recipe } from './recipe.js';

const RELEASE: CuratorRelease = '5.9.0';
const SESSION_TIMEOUT = 10_000;
const ROOT = '/fleet';

/** An ensemble of ZooKeeper, shared with Curator. */
export class ZooKeeperGround implements Ground {
  private directories: readonly string[] = [];

  private constructor(
    readonly ensemble: ZooKeeperEnsemble,
    /** A client that takes no part. */
    private readonly stranger: TestClient,
  ) {}

  static async open(ensemble: ZooKeeperEnsemble): Promise<ZooKeeperGround> {
    const stranger = await TestClient.connect(ensemble.connectString, { sessionTimeout: 30_000 });
    const ground = new ZooKeeperGround(ensemble, stranger);
    await ground.makeDirectory(ROOT);
    return ground;
  }

  startPeer(language: 'node' | 'java'): Promise<Peer> {
    const { connectString } = this.ensemble;
    return language === 'node'
      ? startNodePeer(connectString, SESSION_TIMEOUT)
      : startCuratorPeer(RELEASE, connectString, SESSION_TIMEOUT);
  }

  async prepare({ directories = [] }: Recipe, run: number): Promise<string> {
    const path = `${ROOT}/${run}`;
    // They stay until the end: if they were collected while empty, the numbers would restart.
    this.directories = [path, ...directories.map((name) => `${path}/${name}`)];
    for (const directory of this.directories) await this.makeDirectory(directory);
    return path;
  }

  async holdsOf(peer: Peer, path: string): Promise<() => Promise<boolean>> {
    const { connection } = this.stranger;
    const session = await peer.actor().session();
    const nodes = await znodesBelow(path, connection);
    const stats = await Promise.all(nodes.map((node) => connection.exists(node)));
    const held = nodes.filter((_, i) => stats[i]?.ephemeralOwner === session);
    if (held.length === 0) throw new Error(`Nothing of ${path} is held there.`);
    return async () => {
      await connection.sync(path);
      const left = await Promise.all(held.map((node) => connection.exists(node)));
      return left.every((stat) => stat === undefined);
    };
  }

  async clear(): Promise<void> {
    for (const directory of this.directories.toReversed())
      await this.stranger.connection.delete(directory).catch(() => {}); // not empty: that is reported
  }

  /** All znodes, and how many watches the servers keep. */
  async traces(): Promise<string> {
    const { connection } = this.stranger;
    // After a server was killed, the others may be done before it is back, and before `stranger` has found another one.
    const isCalm = async () => connection.isConnected && (await this.ensemble.isWhole());
    await eventually('all servers serve, and the other client is connected', isCalm, {
      within: 30_000,
    });
    await connection.sync(ROOT);
    const znodes = await znodesBelow(ROOT, connection);
    const answers = await Promise.all(
      this.ensemble.servers.map((server) => server.fourLetterWord('wchs')),
    );
    const watches = answers.map((answer) => Number(/Total watches:(\d+)/.exec(answer)?.[1]));
    return [...znodes, `${watches.reduce((sum, count) => sum + count, 0)} watches`].join('\n');
  }

  async close(): Promise<void> {
    await this.stranger.locks.close();
  }

  private async makeDirectory(path: string): Promise<void> {
    await this.stranger.connection.create(path, Buffer.alloc(0), CreateMode.PERSISTENT);
  }
}
