import {
  CreateMode,
  type ZooKeeperConnection,
} from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from '../../../lib/zookeeper/connection/zookeeper-error.js';
import { TestClient } from '../../faults/support/test-client.js';
import { eventually } from '../../support/time.js';
import { FOR_LATE_COPIES } from '../../support/redis-server.js';
import type { ZooKeeperEnsemble } from '../../support/zookeeper-ensemble.js';
import type { CuratorRelease } from '../support/builds.js';
import type { Peer } from '../support/peer.js';
import { type RedisDeployment, redisNames } from '../support/redis-deployment.js';
import {
  startCuratorPeer,
  startNodePeer,
  startRedisNodePeer,
  startRedissonPeer,
} from '../support/start-peers.js';
import type { Recipe } from './recipes.js';

/** The servers that a fleet contends on. */
export interface Ground {
  /** Starts one more process, connected to them. */
  startPeer(language: 'node' | 'java'): Promise<Peer>;
  /** Returns a path or name for the lock of that run, after creating what has to exist before. */
  prepare(recipe: Recipe, run: number): Promise<string>;
  /** Checks what that process holds of the lock now; the result then reports whether the servers have ended all of it. */
  holdsOf(peer: Peer, path: string): Promise<() => Promise<boolean>>;
  /** Removes what was prepared, as far as nothing else depends on it. */
  clear(): Promise<void>;
  /** What locks left on the servers, as a text to compare. */
  traces(): Promise<string>;
  /** Stops what it started; the servers stay. */
  close(): Promise<void>;
}

/** Reads what a fleet leaves behind, which takes a while to disappear; resolves to the last reading if it does not. */
export async function tracesOnceAs(before: string, ground: Ground): Promise<string> {
  let seen = '';
  const isClean = async () => {
    await ground.clear();
    seen = await ground.traces();
    return seen === before;
  };
  await eventually('nothing is left behind', isClean).catch(() => {});
  return seen;
}

const RELEASE: CuratorRelease = '5.9.0';
const ROOT = '/fleet';

/** An ensemble of ZooKeeper, shared with Curator. */
export class ZooKeeperGround implements Ground {
  private directories: readonly string[] = [];

  private constructor(
    readonly ensemble: ZooKeeperEnsemble,
    /** A client that takes no part. */
    private readonly stranger: TestClient,
    private readonly sessionTimeout: number,
  ) {}

  /** @param sessionTimeout of all processes, in ms */
  static async open(
    ensemble: ZooKeeperEnsemble,
    sessionTimeout = 10_000,
  ): Promise<ZooKeeperGround> {
    const stranger = await TestClient.connect(ensemble.connectString, { sessionTimeout: 30_000 });
    const ground = new ZooKeeperGround(ensemble, stranger, sessionTimeout);
    await ground.makeDirectory(ROOT);
    return ground;
  }

  startPeer(language: 'node' | 'java'): Promise<Peer> {
    const { connectString } = this.ensemble;
    return language === 'node'
      ? startNodePeer(connectString, this.sessionTimeout)
      : startCuratorPeer(RELEASE, connectString, this.sessionTimeout);
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

/** A Redis, shared with Redisson. */
export class RedisGround implements Ground {
  private name = '';
  private permits?: number;
  /** Number of Node processes so far; every other one is on node-redis. */
  private nodes = 0;

  /** @param watchdogTimeout of all processes, in ms */
  constructor(
    private readonly deployment: RedisDeployment,
    private readonly watchdogTimeout = 10_000,
  ) {}

  startPeer(language: 'node' | 'java'): Promise<Peer> {
    const { watchdogTimeout, deployment } = this;
    if (language === 'java') return startRedissonPeer(deployment.urls, { watchdogTimeout });
    const driver = this.nodes++ % 2 === 0 ? 'ioredis' : 'node-redis';
    return startRedisNodePeer(deployment.urls, { watchdogTimeout, driver });
  }

  async prepare({ permits }: Recipe, run: number): Promise<string> {
    this.name = `fleet:${run}`;
    this.permits = permits;
    if (permits !== undefined) await this.command('SET', this.name, permits);
    return this.name;
  }

  async holdsOf(peer: Peer, path: string): Promise<() => Promise<boolean>> {
    const [client] = (await this.holderIn(peer)).split(':');
    const server = await this.deployment.masterOf(path);
    const fields = (await server.command('HKEYS', path)) as string[];
    const held = fields.filter((field) => field.startsWith(`${client}:`));
    if (held.length === 0) throw new Error(`Nothing of ${path} is held there.`);
    return async () => {
      const left = await Promise.all(held.map((field) => server.command('HEXISTS', path, field)));
      return left.every((count) => count === 0);
    };
  }

  /** Fencing tokens and semaphores are kept for good, as is the latch of the round in which the first worker went to rest. */
  async clear(): Promise<void> {
    await this.command('DEL', redisNames(this.name).token);
    for (const latch of ['even', 'odd']) await this.command('DEL', `${this.name}:${latch}`);
    const { permits } = this;
    if (permits !== undefined && (await this.command('GET', this.name)) === String(permits))
      await this.command('DEL', this.name);
  }

  /** All keys, and all channels with subscribers. */
  async traces(): Promise<string> {
    const traces = await Promise.all(
      (await this.deployment.masters()).flatMap((server) => [
        server.command('KEYS', '*'),
        server.command('PUBSUB', 'CHANNELS', '*'),
        server.command('PUBSUB', 'SHARDCHANNELS', '*'),
      ]),
    );
    return (traces.flat() as string[])
      .filter((name) => !FOR_LATE_COPIES.test(name))
      .sort()
      .join('\n');
  }

  async close(): Promise<void> {}

  private async command(command: string, key: string, ...args: (string | number)[]) {
    const server = await this.deployment.masterOf(key);
    return server.command(command, key, ...args);
  }

  private async holderIn(peer: Peer): Promise<string> {
    const [actor, lock] = [peer.redisActor(), 'lock:who'];
    await actor.acquire(lock);
    const holder = await actor.holder(lock);
    await actor.release(lock);
    return holder;
  }
}

/** Paths of all nodes below one, also while others come and go. */
export async function znodesBelow(
  path: string,
  connection: ZooKeeperConnection,
): Promise<string[]> {
  const children = (await childrenOf(path, connection)).map((name) => `${path}/${name}`);
  const below = await Promise.all(children.map((child) => znodesBelow(child, connection)));
  return [...children, ...below.flat()].sort();
}

async function childrenOf(path: string, connection: ZooKeeperConnection): Promise<string[]> {
  try {
    return await connection.getChildren(path);
  } catch (error) {
    if (ZooKeeperError.is(error, ReturnCode.NONODE)) return [];
    throw error;
  }
}
