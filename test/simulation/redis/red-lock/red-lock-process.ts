import type { Clock } from '../../../../lib/core/clock.js';
import { LockEventEmitter } from '../../../../lib/core/internal/lock-event-emitter.js';
import { RedisConnection } from '../../../../lib/redis/connection/redis-connection.js';
import { LONGEST_TIMEOUT } from '../../../../lib/redis/make-connection.js';
import { makeClient } from '../../../../lib/redis/make-client.js';
import { RedLockClient } from '../../../../lib/redis/red-lock/red-lock-client.js';
import { type RedLockNode, RedLockNodes } from '../../../../lib/redis/red-lock/red-lock-nodes.js';
import { RedisLockClient } from '../../../../lib/redis/redis-lock-client.js';
import type { Dice } from '../../dice.js';
import { SimulatedProcess } from '../../process.js';
import { Timing } from '../../timing.js';
import { ClientNetwork } from '../../../../lib/testing/redis/network/client-network.js';
import type { ServerPort } from '../../../../lib/testing/redis/network/server-port.js';
import { SimulatedNode } from '../../../../lib/testing/redis/network/simulated-node.js';
import { type Way, Wire } from '../../../../lib/testing/redis/network/wire.js';

/** How long each server may take to answer, in ms: a script that it does not know yet costs two round trips. */
export const NODE_TIMEOUT = 200;

interface RedLockProcessOptions {
  readonly name: string;
  /** That of the world. */
  readonly clock: Clock;
  readonly dice: Dice;
  readonly ports: readonly ServerPort[];
  readonly watchdogTimeout: number;
  /** @param server number of the server, from 1 on */
  readonly onStateChange: (state: string, server: number) => void;
  /** Makes one direction of a connection. Default: messages take some time. */
  readonly way?: (() => Way) | undefined;
}

/** A process with a lock client on several servers, and its networks to them. */
export class RedLockProcess {
  closedAt?: number;
  locks!: RedLockClient;
  readonly process: SimulatedProcess;
  /** One to each server. */
  readonly networks: readonly ClientNetwork[];

  private constructor(private readonly options: RedLockProcessOptions) {
    const { clock, dice, name, ports } = options;
    this.process = new SimulatedProcess(clock);
    const packets = dice.fork(name);
    const {
      way = (delay: () => number) => new Wire(clock, () => packets.time(Timing.latency + delay())),
    } = options;
    this.networks = ports.map((port) => new ClientNetwork(clock, way, () => port));
  }

  /** Makes the lock client as `createRedLockClient` does, on the networks and the clock of a new process. */
  static async start(options: RedLockProcessOptions): Promise<RedLockProcess> {
    const { name, watchdogTimeout } = options;
    const it = new RedLockProcess(options);
    const { process: clock } = it;
    const nodes = await Promise.all(it.networks.map((network, i) => it.#node(network, i + 1)));
    const events = new LockEventEmitter(name);
    const servers = new RedLockNodes(name, nodes, clock, events);
    it.locks = new RedLockClient({
      name,
      nodes: servers,
      events,
      clock,
      options: { watchdogTimeout, nodeTimeout: NODE_TIMEOUT },
    });
    return it;
  }

  async #node(network: ClientNetwork, server: number): Promise<RedLockNode> {
    const { name, watchdogTimeout, onStateChange } = this.options;
    const { process } = this;
    const client = new SimulatedNode({
      clock: process,
      open: (...link) => network.open(...link),
      receive: (message) => process.receive(message),
    });
    const options = { client, watchdogTimeout, connectTimeout: LONGEST_TIMEOUT };
    const connection = new RedisConnection({
      client: await makeClient(name, options),
      shardedSubscriptionMode: 'auto',
      clock: process,
      onStateChange: (state) => onStateChange(state, server),
    });
    const events = new LockEventEmitter();
    return {
      connection,
      client: new RedisLockClient({ name, connection, events, clock: process, options }),
    };
  }

  get name(): string {
    return this.options.name;
  }

  get watchdogTimeout(): number {
    return this.options.watchdogTimeout;
  }

  /** Whether it is connected to all servers. */
  get isReady(): boolean {
    const { connected, total } = this.locks.status().servers!;
    return connected === total;
  }

  /** It ends; its connections are closed. */
  kill(): void {
    this.process.kill();
    for (const network of this.networks) network.cut(() => 'processed');
  }

  close(): Promise<void> {
    this.closedAt = this.options.clock.now();
    return this.locks.close();
  }

  /** Resolves after `ms` on the clock of the process. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.process.setTimer(() => resolve(), ms));
  }
}
