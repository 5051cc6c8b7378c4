import { randomBytes } from 'node:crypto';
import type { Cluster, ClusterOptions } from 'ioredis';
import { freePorts, startedOnFreePorts } from './processes.js';
import { Cluster as UsersCluster } from './redis-client.js';
import { RedisServer, replicated, sinceRedis } from './redis-server.js';
import { eventually } from './time.js';

const SLOTS = 16_384;

/** A node of a cluster that is to be. */
export interface RedisClusterNode {
  /** 40 hexadecimal digits. */
  readonly id: string;
  /** `host:port@busPort` */
  readonly address: string;
  /** The master that it replicates; a node without one is a master. */
  readonly masterId?: string;
}

/** The text of a node's `nodes.conf`: with it the nodes know each other when they start, and the slots that each serves. */
export function redisClusterNodes(nodes: readonly RedisClusterNode[], selfId: string): string {
  const masterIds = nodes.filter(({ masterId }) => !masterId).map(({ id }) => id);
  const firstSlot = (index: number) => Math.floor((index * SLOTS) / masterIds.length);

  const lines = nodes.map(({ id, address, masterId }) => {
    const index = masterIds.indexOf(masterId ?? id);
    const role = masterId ? 'slave' : 'master';
    const flags = id === selfId ? `myself,${role}` : role;
    const slots = masterId ? '' : ` ${firstSlot(index)}-${firstSlot(index + 1) - 1}`;
    return `${id} ${address} ${flags} ${masterId ?? '-'} 0 0 ${index + 1} connected${slots}\n`;
  });
  return `${lines.join('')}vars currentEpoch ${masterIds.length} lastVoteEpoch 0\n`;
}

const HOST = '127.0.0.1';
const MASTERS = 3;
const SIZE = 2 * MASTERS;
const START_ATTEMPTS = 3;
const PATIENCE = { within: 25_000, every: 25 };
/** A replica gives up a takeover after five seconds. */
const ASK_AGAIN_AFTER = 6_000;

/** Settings of a test cluster. The default of the node time-out lets a replica take over about three seconds after a kill. */
export interface RedisClusterOptions {
  /** How long a node may be silent before the others think it failed, in milliseconds. Default 1000. */
  nodeTimeout?: number;
  /** Further lines of every `redis.conf`. */
  config?: Readonly<Record<string, string>>;
}

/** A line of the answer to `CLUSTER SLOTS`: first slot, last slot, master, replicas. */
type SlotRange = [number, number, [string, number], ...unknown[]];

/** A real cluster of three masters with a replica each. */
export class RedisCluster {
  private readonly clients: Cluster[] = [];

  private constructor(readonly servers: readonly RedisServer[]) {}

  /** Starts the servers on free ports; resolves when all of them serve and the replicas are linked. */
  static start(options: RedisClusterOptions = {}): Promise<RedisCluster> {
    return startedOnFreePorts(
      async () => new RedisCluster(await members(options)),
      (cluster) => cluster.restart(),
      START_ATTEMPTS,
    );
  }

  /** Where a client may start. */
  get nodes(): { host: string; port: number }[] {
    return this.servers.map(({ host, port }) => ({ host, port }));
  }

  /** A client of it, as users have one; `stop()` disconnects it. */
  client(options: ClusterOptions = {}): Cluster {
    const client = new UsersCluster(this.nodes, {
      ...options,
      redisOptions: { disconnectTimeout: 0, ...options.redisOptions }, // as RedisServer's clients
    });
    client.on('error', () => {}); // commands report it; without a listener each one is printed
    this.clients.push(client);
    return client;
  }

  /** The server that has the key now, as a node that answers sees it. */
  async masterOf(key: string): Promise<RedisServer> {
    return Promise.any(this.running().map(async (server) => this.masterSeenBy(server, key)));
  }

  /** The replica of that master, which has all that was written there before. */
  replicaOf(master: RedisServer): Promise<RedisServer> {
    return replicated(master, this.servers);
  }

  /**
   * Kills the master of the key, once its replica has what was written before; resolves when every node knows that the
   * replica has taken over.
   */
  async failOver(key: string): Promise<void> {
    const failed = await this.masterOf(key);
    await this.replicaOf(failed);
    await failed.kill();
    await this.moved(key, failed);
  }

  /**
   * Lets the replica of the key's master take over from it, and it becomes a replica; resolves when every node knows. The
   * others do not vote for it soon after they have voted; so it is asked again.
   */
  async handOver(key: string): Promise<void> {
    const master = await this.masterOf(key);
    let askedAt = -Infinity;
    await eventually(
      'another master has the key',
      async () => {
        if (await this.hasMoved(key, master)) return true;
        if (performance.now() - askedAt < ASK_AGAIN_AFTER) return false;
        askedAt = performance.now();
        await (await this.replicaOf(master)).command('CLUSTER', 'FAILOVER');
        return false;
      },
      PATIENCE,
    );
  }

  /**
   * Moves the slot of the key, with all that is in it, to another master; resolves when every node knows.
   *
   * @param meanwhile happens when the slot is moving, and what is in it is still on the old master, but for what it `move`s
   */
  async migrate(
    key: string,
    meanwhile?: (move: (name: string) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const from = await this.masterOf(key);
    const slot = (await from.command('CLUSTER', 'KEYSLOT', key)) as number;
    const masters = await this.masters();
    const to = masters.find((server) => server !== from)!;
    const ids = [from, to].map(async (server) => String(await server.command('CLUSTER', 'MYID')));
    const [fromId, toId] = await Promise.all(ids);
    await to.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId!);
    await from.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId!);
    const move = async (...names: string[]) =>
      void (await from.command('MIGRATE', to.host, to.port, '', 0, 5_000, 'KEYS', ...names));
    await meanwhile?.(move);
    const names = (await from.command('CLUSTER', 'GETKEYSINSLOT', slot, 1_000)) as string[];
    if (names.length > 0) await move(...names);
    for (const server of [to, ...masters.filter((server) => server !== to)])
      await server.command('CLUSTER', 'SETSLOT', slot, 'NODE', toId!);
    await this.moved(key, from);
  }

  /** Starts those that were killed; resolves when the cluster is complete again. A master that was replaced is a replica. */
  async restart(): Promise<void> {
    const killed = this.servers.filter((server) => !server.running);
    await Promise.all(killed.map((server) => server.restart()));
    await eventually(
      'the cluster is complete',
      async () => (await all(this.servers, isServing)) && (await this.hasReplicas()),
      PATIENCE,
    );
  }

  /** Ends all servers, frozen or not, and disconnects its clients. Idempotent. */
  async stop(): Promise<void> {
    for (const client of this.clients) client.disconnect();
    await Promise.all(this.servers.map((server) => server.stop()));
  }

  /** Waits until every node knows that the key has another master. */
  private async moved(key: string, from: RedisServer): Promise<void> {
    await eventually('another master has the key', () => this.hasMoved(key, from), PATIENCE);
  }

  private hasMoved(key: string, from: RedisServer): Promise<boolean> {
    const knows = async (server: RedisServer) =>
      (await isServing(server)) && (await this.masterSeenBy(server, key)) !== from;
    return all(this.running(), knows);
  }

  private async masters(): Promise<RedisServer[]> {
    const roles = await Promise.all(this.servers.map((server) => server.role()));
    return this.servers.filter((_, i) => roles[i]!.name === 'master');
  }

  private running(): RedisServer[] {
    return this.servers.filter((server) => server.running);
  }

  private async masterSeenBy(server: RedisServer, key: string): Promise<RedisServer> {
    const slot = (await server.command('CLUSTER', 'KEYSLOT', key)) as number;
    const ranges = (await server.command('CLUSTER', 'SLOTS')) as SlotRange[];
    const [, , [, port]] = ranges.find(([first, last]) => first <= slot && slot <= last)!;
    return this.servers.find((member) => member.port === port)!;
  }

  /** Has every master a replica that is up to date? */
  private async hasReplicas(): Promise<boolean> {
    const roles = await Promise.all(this.servers.map((server) => server.role()));
    const masters = roles.filter((role) => role.name === 'master');
    const replicas = roles.filter((role) => role.name === 'replica' && role.isLinked);
    return masters.every((master) => master.replicas === 1) && replicas.length === SIZE - MASTERS;
  }
}

async function isServing(server: RedisServer): Promise<boolean> {
  return String(await server.command('CLUSTER', 'INFO')).includes('cluster_state:ok');
}

async function all<T>(items: readonly T[], holds: (item: T) => Promise<boolean>): Promise<boolean> {
  return (await Promise.all(items.map(holds))).every(Boolean);
}

async function members(options: RedisClusterOptions): Promise<RedisServer[]> {
  const ports = await freePorts(2 * SIZE, HOST); // those of the bus would else lie among the ports of outgoing connections
  const mayChooseBus = sinceRedis('7.0');
  const busOf = (i: number) => (mayChooseBus ? ports[SIZE + i]! : ports[i]! + 10_000);
  const ids = Array.from({ length: SIZE }, () => randomBytes(20).toString('hex'));
  const nodes = ids.map<RedisClusterNode>((id, i) => ({
    id,
    address: `${HOST}:${ports[i]}@${busOf(i)}`,
    masterId: i < MASTERS ? undefined : ids[i - MASTERS],
  }));
  return ids.map((id, i) => {
    const config = {
      'cluster-enabled': 'yes',
      ...(mayChooseBus && { 'cluster-port': `${busOf(i)}` }),
      'cluster-node-timeout': `${options.nodeTimeout ?? 1000}`,
      ...options.config,
    };
    return new RedisServer(ports[i]!, {
      config,
      files: { 'nodes.conf': redisClusterNodes(nodes, id) },
    });
  });
}
