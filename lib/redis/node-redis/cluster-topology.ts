import { askServer, inTime } from './ask-server.js';
import {
  type HostAndPort,
  type NodeRedis,
  type NodeRedisClusterOptions,
  type NodeRedisServer,
  reachable,
  serverAt,
  serverOf,
} from './node-redis.js';
import type { NodeRedisNode } from './node-redis-node.js';

/** Longest wait for the answer of one node, in ms, as by ioredis. */
const PATIENCE = 1_000;

/** The answer to `CLUSTER SLOTS`: the nodes of each range of slots, the master first. */
type Slots = readonly (readonly [number, number, ...(readonly [string | null, number])[]])[];

/** Where the slots of a cluster are. */
export interface Topology {
  /** The name of the master of each slot. */
  readonly slots: (readonly [string])[];
  readonly masters: ReadonlyMap<string, HostAndPort>;
}

/** Name of a node. */
export const nameOf = ({ host, port }: HostAndPort) => `${host}:${port}`;

/** An address as a server writes it: the host may hold colons, and is left out where it is that of the server itself. */
export function parseAddress(address: string, server: object): HostAndPort {
  const colon = address.lastIndexOf(':');
  return { host: hostOr(address.slice(0, colon), server), port: Number(address.slice(colon + 1)) };
}

function hostOr(host: string | null, server: object): string {
  return host === null || host === '' || host === '?' ? (server as HostAndPort).host : host;
}

/** Finds out which nodes a cluster has. */
export class ClusterTopology {
  /** All nodes of the last answer, also the replicas: one of them may be all that is left. */
  #known: readonly HostAndPort[] = [];

  constructor(
    private readonly package_: NodeRedis,
    private readonly settings: NodeRedisClusterOptions,
  ) {}

  /** The address at which a node can be reached. */
  reachable(address: HostAndPort): HostAndPort {
    return reachable(address, this.settings.nodeAddressMap);
  }

  serverAt(address: HostAndPort): NodeRedisServer {
    return serverAt(address, () => this.package_.createClient({ ...this.settings.defaults }));
  }

  /**
   * Asks one node after the other, those that are connected first.
   *
   * Rejects with the error of the last one, or when the signal aborts.
   */
  async look(connected: readonly NodeRedisNode[], signal: AbortSignal): Promise<Topology> {
    let reason: unknown = new Error('The cluster has no nodes to begin with.');
    const first = Math.floor(Math.random() * connected.length); // one that hangs is not asked first each time
    for (const node of [...connected.slice(first), ...connected.slice(0, first)]) {
      try {
        const answer = await inTime(node.call('cluster', 'slots'), PATIENCE);
        return this.#read(answer as Slots, node);
      } catch (error) {
        reason = error;
      }
    }
    for (const server of this.#others()) {
      try {
        const answer = await askServer(server, PATIENCE, signal, 'cluster', 'slots');
        return this.#read(answer as Slots, server);
      } catch (error) {
        reason = error;
      }
      signal.throwIfAborted();
    }
    throw reason;
  }

  *#others(): Iterable<NodeRedisServer> {
    for (const address of this.#known) yield this.serverAt(address);
    const { rootNodes, defaults } = this.settings;
    for (const root of rootNodes) {
      const socket = { ...defaults?.socket, ...root.socket };
      yield serverOf(this.package_.createClient({ ...defaults, ...root, socket }));
    }
  }

  /** @param options where the server is that has answered */
  #read(ranges: Slots, { options }: Pick<NodeRedisServer, 'options'>): Topology {
    if (ranges.length === 0) throw new Error('A node of the cluster knows of no slots.');
    const slots: (readonly [string])[] = [];
    const masters = new Map<string, HostAndPort>();
    const known = new Map<string, HostAndPort>();
    for (const [first, last, ...nodes] of ranges) {
      const [master, ...replicas] = nodes.map(([host, port]) =>
        this.reachable({ host: hostOr(host, options), port }),
      );
      masters.set(nameOf(master!), master!);
      for (const each of [master!, ...replicas]) known.set(nameOf(each), each);
      const owner = [nameOf(master!)] as const;
      for (let slot = first; slot <= last; slot += 1) slots[slot] = owner;
    }
    this.#known = [...known.values()];
    return { slots, masters };
  }
}
