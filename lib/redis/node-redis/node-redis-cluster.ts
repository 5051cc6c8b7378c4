import { setTimeout as sleep } from 'node:timers/promises';
import { slotOf } from '../connection/cluster-slots.js';
import type { RedisArgument, RedisCluster } from '../connection/ioredis.js';
import { isReply } from '../connection/redis-error.js';
import { ClientState, never, type RetryStrategy } from './client-state.js';
import { ClusterTopology, nameOf, parseAddress, type Topology } from './cluster-topology.js';
import type { HostAndPort, NodeRedis, NodeRedisClusterOptions } from './node-redis.js';
import { NodeRedisNode } from './node-redis-node.js';

/** Commands without a key, which any master answers. */
const WITHOUT_KEY = new Set(['ping', 'info', 'pubsub', 'publish']);
/** A command is sent so often before it is rejected, as by ioredis. */
const MOST_ATTEMPTS = 16;
/** Delay before a command is sent again, or the nodes are looked up again, where the cluster is not in order, in ms. */
const PAUSE = 100;
/** How the nodes are looked for again where none can be reached. */
const untiring: RetryStrategy = (attempt) => Math.min(attempt * PAUSE, 2_000);

/** The key that decides which master runs a command. */
function keyOf(command: string, args: readonly RedisArgument[]): string | undefined {
  if (WITHOUT_KEY.has(command)) return undefined;
  return String(command.startsWith('eval') ? args[2] : args[0]);
}

function oneOf<T>(list: readonly T[]): T | undefined {
  return list[Math.floor(Math.random() * list.length)];
}

/**
 * A Redis Cluster by node-redis that behaves as one of ioredis: one connection to each master, commands that follow their
 * slot, the same states and events. The cluster client of node-redis only says where the nodes are: it moves commands between
 * its connections by itself, so that a copy under way would go unnoticed.
 *
 * Invariant: `close` of the node is emitted before a command on its connection is rejected, or sent to another.
 */
export class NodeRedisCluster implements RedisCluster {
  readonly isCluster = true;
  readonly options = {};
  slots: (readonly [string])[] = [];
  readonly #state = new ClientState(() => void this.#find());
  readonly #nodes = new Map<string, NodeRedisNode>();
  readonly #topology: ClusterTopology;
  /** Aborts when it is closed: what was asked before does not count any more. */
  #open = new AbortController();
  #isLookDue = false;

  /** @param longestSilence longest wait for a reply before a connection is dropped, in ms */
  constructor(
    package_: NodeRedis,
    settings: NodeRedisClusterOptions,
    private readonly longestSilence: number,
  ) {
    this.#topology = new ClusterTopology(package_, settings);
  }

  get status(): ClientState['status'] {
    return this.#state.status;
  }

  get reconnectTimeout(): ClientState['reconnectTimeout'] {
    return this.#state.reconnectTimeout;
  }

  get offlineQueue(): ClientState['offlineQueue'] {
    return this.#state.offlineQueue;
  }

  on(event: string, listener: (...args: unknown[]) => void): this {
    this.#state.on(event, listener);
    return this;
  }

  off(event: string, listener: (...args: unknown[]) => void): this {
    this.#state.off(event, listener);
    return this;
  }

  /** Begins to connect. */
  async connect(): Promise<void> {
    this.#state.connect();
  }

  /** The masters; there are no connections to replicas, whichever the role. */
  nodes(): NodeRedisNode[] {
    return [...this.#nodes.values()];
  }

  disconnect(reconnect = false): void {
    if (this.status !== 'end') this.#close(undefined, reconnect ? untiring : never);
  }

  async call(
    command: string,
    ...args: (RedisArgument | readonly RedisArgument[])[]
  ): Promise<unknown> {
    const words = args.flat();
    const key = keyOf(command, words);
    let importing: NodeRedisNode | undefined;
    for (let attempt = 1; ; attempt += 1) {
      while (this.#state.status !== 'ready') await this.#state.untilReady();
      const node = importing ?? this.#nodeOf(key);
      try {
        if (node === undefined) throw new Error('The cluster has no master for the slot now.');
        importing?.call('asking').catch(() => {}); // goes first: both wait for the connection, or neither
        return await node.call(command, words);
      } catch (error) {
        importing = await this.#follow(error, node?.options ?? {});
        if (attempt === MOST_ATTEMPTS)
          throw new Error(`Too many Cluster redirections. Last error: ${String(error)}`, {
            cause: error,
          });
      }
    }
  }

  #nodeOf(key: string | undefined): NodeRedisNode | undefined {
    if (key !== undefined) return this.#nodes.get(this.slots[slotOf(key)]?.[0] ?? '');
    const nodes = this.nodes();
    return oneOf(nodes.filter(({ status }) => status === 'ready')) ?? nodes[0];
  }

  /**
   * Does what an error asks for before the command is sent again; returns the node that has to be asked, if it is not the
   * master of the slot yet. Rejects with an error that is the answer.
   */
  async #follow(error: unknown, server: object): Promise<NodeRedisNode | undefined> {
    const [what, slot, address] = isReply(error) ? error.message.split(' ') : ['LOST'];
    if (what === 'MOVED' || what === 'ASK') {
      const master = this.#topology.reachable(parseAddress(address!, server));
      const node = this.#node(master);
      if (what === 'ASK') return node;
      this.slots[Number(slot)] = [nameOf(master)];
      this.#lookLater();
    } else if (what === 'LOST' || what === 'CLUSTERDOWN' || what === 'TRYAGAIN') {
      this.#lookLater();
      await sleep(PAUSE);
    } else throw error;
    return undefined;
  }

  /** Connects to the master at that address. */
  #node(address: HostAndPort): NodeRedisNode {
    const name = nameOf(address);
    const known = this.#nodes.get(name);
    if (known !== undefined) return known;
    const server = this.#topology.serverAt(address);
    const node = new NodeRedisNode(server, this.longestSilence, never);
    this.#nodes.set(name, node);
    node.on('ready', () => this.status === 'connecting' && this.#state.ready());
    node.on('end', () => this.#ended(name, node));
    this.#state.emit('+node', node);
    void node.connect();
    return node;
  }

  /** A connection has broken, or was not possible. */
  #ended(name: string, node: NodeRedisNode): void {
    if (this.#nodes.get(name) !== node) return;
    this.#nodes.delete(name);
    this.#state.emit('-node', node);
    if (this.#nodes.size > 0) this.#lookLater();
    else this.#close(new Error('None of the nodes can be reached.'), untiring);
  }

  /** Finds out where the nodes are, and connects to the masters. */
  async #find(): Promise<void> {
    const { signal } = this.#open;
    try {
      await this.#look(signal);
    } catch (error) {
      if (!signal.aborted) this.#close(error, untiring);
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const connected = this.nodes().filter(({ status }) => status === 'ready');
    const topology = await this.#topology.look(connected, signal);
    if (!signal.aborted) this.#take(topology);
  }

  #take({ slots, masters }: Topology): void {
    this.slots = slots;
    for (const [name, node] of this.#nodes) if (!masters.has(name)) this.#drop(name, node);
    for (const address of masters.values()) this.#node(address);
  }

  #drop(name: string, node: NodeRedisNode): void {
    this.#nodes.delete(name);
    this.#state.emit('-node', node);
    node.disconnect();
  }

  /** Looks in a moment whether slots have other masters now. */
  #lookLater(): void {
    if (this.status !== 'ready') return;
    this.#isLookDue = true;
    this.#state.reconnectTimeout ??= setTimeout(() => void this.#lookAgain(), PAUSE);
  }

  async #lookAgain(): Promise<void> {
    const { signal } = this.#open;
    this.#isLookDue = false;
    await this.#look(signal).catch(() => (this.#isLookDue = true));
    if (signal.aborted) return;
    this.#state.reconnectTimeout = undefined;
    if (this.#isLookDue) this.#lookLater();
  }

  #close(error: unknown, retryStrategy: RetryStrategy): void {
    this.#open.abort();
    this.#open = new AbortController();
    this.#isLookDue = false;
    this.#state.close();
    this.slots = [];
    for (const [name, node] of this.#nodes) this.#drop(name, node);
    this.#state.emitClosed(error);
    this.#state.retry(error, retryStrategy);
  }
}
