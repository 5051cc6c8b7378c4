import { EventEmitter } from 'node:events';
import type { Timer } from '../../../../lib/core/clock.js';
import { slotOf } from '../../../../lib/redis/connection/cluster-slots.js';
import type { RedisArgument, RedisCluster } from '../../../../lib/redis/connection/ioredis.js';
import { concernOf } from '../../../../lib/testing/redis/server/keys-of.js';
import type { SlotMap } from './slot-map.js';
import type { NodeHost } from '../../../../lib/testing/redis/network/ioredis.js';
import { SimulatedNode } from '../../../../lib/testing/redis/network/simulated-node.js';

/** What a `Cluster` of `ioredis` needs from its process. */
export interface ClusterHost extends NodeHost {
  /** Where the slots are: it reads that in no time, which takes a command to some node. */
  readonly slotMap: SlotMap;
}

/** The options of a `Cluster` of ioredis that are read here. */
interface ClusterOptions {
  readonly redisOptions?: object;
  readonly clusterRetryStrategy?: (attempt: number) => unknown;
}

interface Command {
  readonly words: readonly [name: string, ...args: RedisArgument[]];
  readonly slot: number | undefined;
  redirections: number;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const MOST_REDIRECTIONS = 16;
/** The delays on TRYAGAIN and on a lost connection, in ms. */
const RETRY_DELAY = 100;
const CLOSED = 'Connection is closed.';

/**
 * A `Cluster` of ioredis in virtual time: the same nodes, redirections, repetitions and events. What it does at random, it does with
 * the first node.
 */
export class SimulatedCluster implements RedisCluster {
  readonly isCluster = true;
  status = 'wait';
  slots: (readonly string[])[] = [];
  readonly #events = new EventEmitter();
  readonly #pool = new Map<string, SimulatedNode>();
  #offline: Command[] = [];
  #attempts = 0;
  #isClosing = false;
  #reconnect?: Timer | undefined;

  constructor(
    private readonly host: ClusterHost,
    readonly options: ClusterOptions = {},
  ) {
    this.#events.setMaxListeners(0);
  }

  duplicate(_: readonly never[], override: ClusterOptions = {}): SimulatedCluster {
    return new SimulatedCluster(this.host, { ...this.options, ...override });
  }

  on(event: string, listener: (...args: unknown[]) => void): void {
    this.#events.on(event, listener);
  }

  off(event: string, listener: (...args: unknown[]) => void): void {
    this.#events.off(event, listener);
  }

  /** All are masters. */
  nodes(): SimulatedNode[] {
    return [...this.#pool.values()];
  }

  async connect(): Promise<void> {
    this.#setStatus('connecting');
    this.#isClosing = false;
    this.#refresh();
    await Promise.resolve();
    if (this.status !== 'connecting') return; // it was closed
    this.#setStatus('ready');
    this.#attempts = 0;
    for (const command of this.#offline.splice(0)) this.#send(command);
  }

  disconnect(): void {
    const wasWaiting = this.status === 'wait';
    this.#setStatus('disconnecting');
    this.#isClosing = true;
    this.#reconnect?.cancel();
    const nodes = this.nodes();
    this.#pool.clear();
    for (const node of nodes) node.disconnect();
    if (wasWaiting) this.#drained();
  }

  call(name: string, ...args: (RedisArgument | readonly RedisArgument[])[]): Promise<unknown> {
    const operands: RedisArgument[] = args.flat();
    const [key] = concernOf(name, operands.map(String)).keys;
    const slot = key === undefined ? undefined : slotOf(key);
    return new Promise((resolve, reject) =>
      this.#send({ words: [name, ...operands], slot, redirections: 0, resolve, reject }),
    );
  }

  #send(command: Command, where: 'its node' | 'any node' | { ask: string } = 'its node'): void {
    if (this.status === 'wait') void this.connect();
    if (this.status === 'end') return command.reject(new Error(CLOSED));
    const node = this.status === 'ready' ? this.#nodeFor(command, where) : undefined;
    if (node === undefined) return void this.#offline.push(command);
    if (typeof where === 'object') node.call('asking').catch(() => {});
    const { words, resolve } = command;
    node.call(...words).then(resolve, (error: Error) => this.#redirect(command, error));
  }

  #nodeFor(
    { slot }: Command,
    where: 'its node' | 'any node' | { ask: string },
  ): SimulatedNode | undefined {
    const owner = slot === undefined ? undefined : this.slots[slot]?.[0];
    const address = typeof where === 'object' ? where.ask : where === 'its node' && owner;
    return (address && this.#pool.get(address)) || this.nodes()[0];
  }

  #redirect(command: Command, error: Error): void {
    if (++command.redirections > MOST_REDIRECTIONS)
      return command.reject(
        new Error(`Too many Cluster redirections. Last error: ${String(error)}`),
      );
    const [code, slot, address] = error.message.split(' ');
    if (code === 'MOVED') {
      this.slots[Number(slot)] = [address!];
      this.#node(address!);
      this.#send(command);
      this.#refresh();
    } else if (code === 'ASK') {
      this.#node(address!);
      this.#send(command, { ask: address! });
    } else if (code === 'TRYAGAIN') this.#later(() => this.#send(command, 'any node'));
    else if (error.message === CLOSED && this.status === 'ready')
      this.#later(() => {
        this.#refresh();
        this.#send(command, 'any node');
      });
    else command.reject(error);
  }

  #later(work: () => void): void {
    this.host.clock.setTimer(work, RETRY_DELAY);
  }

  #refresh(): void {
    const { slotMap } = this.host;
    this.slots = slotMap.table();
    for (const node of slotMap.nodes) this.#node(node);
  }

  /** The client of that node, which is made if there is none. */
  #node(address: string): SimulatedNode {
    const known = this.#pool.get(address);
    if (known) return known;
    const [host, port] = address.split(':');
    const { redisOptions } = this.options;
    const node = new SimulatedNode(this.host, {
      ...redisOptions,
      host,
      port: Number(port),
      retryStrategy: null,
    });
    this.#pool.set(address, node);
    node.on('end', () => {
      if (this.#pool.get(address) === node) this.#pool.delete(address);
      this.#events.emit('-node', node);
      if (this.#pool.size === 0) this.#drained();
    });
    this.#events.emit('+node', node);
    return node;
  }

  #drained(): void {
    this.#setStatus('close');
    if (this.#reconnect !== undefined) return;
    const delay = this.#isClosing
      ? undefined
      : this.options.clusterRetryStrategy?.(++this.#attempts);
    if (typeof delay !== 'number') {
      this.#setStatus('end');
      for (const { reject } of this.#offline.splice(0))
        reject(new Error('None of startup nodes is available'));
      return;
    }
    this.#setStatus('reconnecting');
    this.#reconnect = this.host.clock.setTimer(() => {
      this.#reconnect = undefined;
      void this.connect();
    }, delay);
  }

  #setStatus(status: string): void {
    this.status = status;
    process.nextTick(() => this.#events.emit(status));
  }
}
