import type { Clock } from '../../../../lib/core/clock.js';
import { LockEventEmitter } from '../../../../lib/core/internal/lock-event-emitter.js';
import { RedisConnection } from '../../../../lib/redis/connection/redis-connection.js';
import { makeClient } from '../../../../lib/redis/make-client.js';
import { RedisLockClient } from '../../../../lib/redis/redis-lock-client.js';
import type { Dice } from '../../dice.js';
import { SimulatedProcess } from '../../process.js';
import { Timing } from '../../timing.js';
import { ClientNetwork } from '../../../../lib/testing/redis/network/client-network.js';
import type { Fate } from '../../../../lib/testing/redis/network/link.js';
import type { ServerPort } from '../../../../lib/testing/redis/network/server-port.js';
import { SimulatedCluster } from '../network/simulated-cluster.js';
import type { NodeHost } from '../../../../lib/testing/redis/network/ioredis.js';
import { SimulatedNode } from '../../../../lib/testing/redis/network/simulated-node.js';
import { type Way, Wire } from '../../../../lib/testing/redis/network/wire.js';
import type { SlotMap } from '../network/slot-map.js';

interface RedisProcessOptions {
  readonly name: string;
  /** That of the world. */
  readonly clock: Clock;
  readonly dice: Dice;
  /** The server that an address leads to now. */
  readonly portAt: (address: string) => ServerPort;
  /** That of a cluster. Default: it is none. */
  readonly slotMap?: SlotMap | undefined;
  readonly watchdogTimeout: number;
  readonly onStateChange: (state: string) => void;
  /** Makes one direction of a connection. Default: messages take some time. */
  readonly way?: (() => Way) | undefined;
}

/** A process with a lock client on Redis, and its network. The methods obstruct them. */
export class RedisProcess {
  closedAt?: number;
  /** When its connection was established; `Infinity` if there is none. */
  connectedAt = Infinity;
  locks!: RedisLockClient;
  connection!: RedisConnection;
  readonly process: SimulatedProcess;
  readonly network: ClientNetwork;
  #hindrances = 0;
  #disturbedUntil = 0;

  private constructor(private readonly options: RedisProcessOptions) {
    const { clock, dice, portAt } = options;
    this.process = new SimulatedProcess(clock);
    const packets = dice.fork(options.name);
    const {
      way = (delay: () => number) => new Wire(clock, () => packets.time(Timing.latency + delay())),
    } = options;
    this.network = new ClientNetwork(clock, way, portAt);
  }

  /** Makes the lock client as `createRedisLockClient` does, on the network and the clock of a new process. */
  static async start(options: RedisProcessOptions): Promise<RedisProcess> {
    const { name, watchdogTimeout, onStateChange, slotMap } = options;
    const it = new RedisProcess(options);
    const { process, network } = it;
    const host: NodeHost = {
      clock: process,
      open: (...link) => network.open(...link),
      receive: (message) => process.receive(message),
    };
    const client = slotMap ? new SimulatedCluster({ ...host, slotMap }) : new SimulatedNode(host);
    const lockOptions = { client, watchdogTimeout };
    const events = new LockEventEmitter(name);
    it.connection = new RedisConnection({
      client: await makeClient(name, lockOptions),
      shardedSubscriptionMode: 'auto',
      clock: process,
      onStateChange(state) {
        const isUp = state === 'CONNECTED' || state === 'RECONNECTED';
        it.connectedAt = isUp ? options.clock.now() : Infinity;
        onStateChange(state);
      },
    });
    const { connection } = it;
    it.locks = new RedisLockClient({
      name,
      connection,
      events,
      clock: process,
      options: lockOptions,
    });
    return it;
  }

  get name(): string {
    return this.options.name;
  }

  get watchdogTimeout(): number {
    return this.options.watchdogTimeout;
  }

  /** Since when nothing prevents timely messages between it and the server; `Infinity` if something does. */
  get calmSince(): number {
    if (this.#hindrances > 0 || !this.process.isRunning || !this.connection.isReady)
      return Infinity;
    return Math.max(this.#disturbedUntil, this.connectedAt, this.process.thawedAt);
  }

  /** Something prevents timely messages; the returned function ends that. */
  hinder(): () => void {
    this.#hindrances += 1;
    return () => {
      this.#hindrances -= 1;
      this.disturb();
    };
  }

  disturb(until = this.options.clock.now() + Timing.latency): void {
    this.#disturbedUntil = Math.max(this.#disturbedUntil, until);
  }

  cut(fate: () => Fate): void {
    this.disturb();
    this.network.cut(fate);
  }

  /** Nothing arrives, and neither side notices; the returned function ends that, and what was written arrives. */
  partition(): () => void {
    const ends = [this.hinder(), this.network.partition()];
    return () => {
      for (const end of ends) end();
    };
  }

  /** Messages take up to `delay` longer; the returned function ends that. */
  slowDown(delay: number): () => void {
    const relieve = this.hinder();
    this.network.delay = delay;
    return () => {
      this.network.delay = 0;
      this.disturb(this.options.clock.now() + delay);
      relieve();
    };
  }

  /** Its event loop is blocked; the returned function ends that. */
  freeze(): (first: 'timer' | 'message') => void {
    this.process.freeze();
    return (first) => this.process.thaw(first);
  }

  /** It ends; its connections are closed. */
  kill(): void {
    this.process.kill();
    this.network.cut(() => 'processed');
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
