import type { Clock } from '../../lib/core/clock.js';
import type { ErrorPolicy } from '../../lib/core/election/election-backend.js';
import { LockEventEmitter } from '../../lib/core/internal/lock-event-emitter.js';
import { RetryForever } from '../../lib/zookeeper/connection/retry-policies.js';
import type { Servers } from '../../lib/zookeeper/connection/server-list.js';
import { SessionConnection } from '../../lib/zookeeper/connection/session-connection.js';
import type { Transport } from '../../lib/zookeeper/connection/transport.js';
import { ZooKeeperLockClient } from '../../lib/zookeeper/zookeeper-lock-client.js';
import { FaultyTransport } from '../support/transports.js';
import type { Dice } from './dice.js';
import type { ClientServers, Follower } from './ensemble.js';
import { type Eavesdropper, ProcessTransport, SimulatedProcess } from './process.js';
import { Times, Timing } from './timing.js';
import { SimulatedWorker } from './worker.js';

export interface SimulatedClientOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly transport: Transport;
  /** Its way to the server. Default: one that the methods obstruct. */
  readonly network?: Transport | undefined;
  readonly servers: Servers | ClientServers;
  readonly errorPolicy: ErrorPolicy;
  readonly eavesdropper: Eavesdropper;
  readonly sessionTimeout: number;
  readonly dice: Dice;
  readonly onDeadlock?: 'warn' | 'reject' | undefined;
  /** Of its worker thread. Default: it has none. */
  readonly worker?: { readonly maxStall: number; readonly servers: Servers };
}

/** A process of its own with a lock client, and its link to the server, which the methods obstruct. */
export class SimulatedClient {
  readonly process: SimulatedProcess;
  readonly network: FaultyTransport;
  readonly connection: SessionConnection;
  readonly locks: ZooKeeperLockClient;
  readonly events = new LockEventEmitter();
  readonly worker?: SimulatedWorker;
  /** Timers of its users: all others are the library's. */
  userTimers = 0;
  closedAt?: number;
  #hindrances = 0;
  #partitions = 0;
  #refusals = 0;
  /** What was sent has arrived by then, or is lost. */
  disturbedUntil = 0;
  /** When its current connection was established. */
  connectedAt = Times.never;
  /** Additional time that a message may take. */
  #delay = 0;

  constructor(private readonly options: SimulatedClientOptions) {
    const { name, clock, transport, servers, eavesdropper, sessionTimeout, dice } = options;
    this.process = new SimulatedProcess(clock);
    this.network = new FaultyTransport(transport, clock);
    this.network.latency = () => this.#latency();
    if (options.worker) this.worker = this.#hire(options.worker);
    const { worker } = this;
    this.connection = new SessionConnection({
      transport: new ProcessTransport(options.network ?? this.network, this.process, eavesdropper),
      servers,
      sessionTimeout,
      tickTime: Timing.tick,
      clock: this.process,
      random: dice.random,
      catchUp: worker && (() => worker.catchUp()),
    });
    this.connection.onStateChange(() => {
      if (this.connection.isConnected) this.connectedAt = clock.now();
    });
    this.locks = new ZooKeeperLockClient({
      name,
      connection: this.connection,
      events: this.events,
      clock: this.process,
      newId: () => dice.id(),
      basePath: '/locks',
      literalPaths: true,
      connectTimeout: 3_000,
      wait: 'forever',
      retryPolicy: new RetryForever(Timing.retry),
      errorPolicy: options.errorPolicy,
      onDeadlock: options.onDeadlock,
      worker,
    });
    void worker?.start(this.connection);
    this.connection.start(); // not locks.connect(): that asks a real name service
  }

  get name(): string {
    return this.options.name;
  }

  get sessionTimeout(): number {
    return this.options.sessionTimeout;
  }

  /** The server that it is, or was last, connected to, if that is a follower. */
  get follower(): Follower | undefined {
    return (this.options.servers as ClientServers).follower;
  }

  /** Since when nothing prevents timely messages between this client and the server; `Infinity` if something does. */
  get calmSince(): number {
    const isUndisturbed =
      this.#hindrances === 0 && this.connection.isConnected && this.process.isRunning;
    if (!isUndisturbed) return Times.never;
    return Times.latest(this.disturbedUntil, this.connectedAt, this.process.thawedAt);
  }

  /** Since when it could connect if it were not connected; `Infinity` if it cannot. */
  get reachableSince(): number {
    const isReachable = this.#hindrances + this.#refusals === 0 && this.process.isRunning;
    return isReachable ? Times.latest(this.disturbedUntil, this.process.thawedAt) : Times.never;
  }

  /** What is sent until then may come late, or never. */
  disturb(until = this.options.clock.now()): void {
    this.disturbedUntil = Times.latest(this.disturbedUntil, until);
  }

  /** Something disturbs the link between this client and the server; the returned function ends that. */
  hinder(): () => void {
    this.#hindrances += 1;
    return () => {
      this.#hindrances -= 1;
      this.disturb();
    };
  }

  cut(unread: 'lost' | 'processed' = 'lost'): void {
    this.disturb(this.options.clock.now() + Timing.latency);
    this.network.cut(unread);
  }

  /** Nothing arrives any more, and neither side is notified; the returned function ends that. */
  partition(): () => void {
    const relieve = this.hinder();
    if (this.#partitions++ === 0) for (const network of this.#networks) network.partition();
    return () => {
      relieve();
      if (--this.#partitions === 0) for (const network of this.#networks) network.heal();
    };
  }

  /** The server accepts no new connections from it; the returned function ends that. */
  refuse(): () => void {
    this.#refusals += 1;
    for (const network of this.#networks) network.isRefusing = true;
    return () => {
      this.#refusals -= 1;
      for (const network of this.#networks) network.isRefusing = this.#refusals > 0;
      this.disturb();
    };
  }

  /** Messages take up to `delay` longer; the returned function ends that. */
  slowDown(delay: number): () => void {
    this.#delay = delay;
    return () => void (this.#delay = 0);
  }

  /** Its event loop is blocked, or that of the whole process with its worker; the returned function ends that. */
  freeze(isWhole: boolean): (first: 'timer' | 'message') => void {
    this.process.freeze();
    if (isWhole) this.worker?.thread.freeze();
    return (first) => {
      this.process.thaw(first);
      this.worker?.thread.thaw(first);
    };
  }

  kill(): void {
    this.process.kill();
    this.worker?.kill();
    this.cut('processed');
  }

  close(): Promise<void> {
    this.closedAt = this.options.clock.now();
    return this.locks.close();
  }

  /** A timer of a user; the returned function stops it. */
  userTimer(fn: () => void, ms: number): () => void {
    let isPending = true;
    this.userTimers += 1;
    const end = () => {
      if (isPending) this.userTimers -= 1;
      isPending = false;
    };
    const timer = this.process.setTimer(() => {
      end();
      fn();
    }, ms);
    return () => {
      end();
      timer.cancel();
    };
  }

  /** Resolves after `ms` on the clock of the process. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.userTimer(resolve, ms));
  }

  get #networks(): FaultyTransport[] {
    return this.worker ? [this.network, this.worker.network] : [this.network];
  }

  #hire({ maxStall, servers }: { maxStall: number; servers: Servers }): SimulatedWorker {
    const { clock, transport } = this.options;
    const eavesdropper = { sent: () => () => {} };
    const { process } = this;
    const worker = new SimulatedWorker({
      clock,
      process,
      transport,
      servers,
      eavesdropper,
      maxStall,
    });
    worker.network.latency = () => this.#latency();
    return worker;
  }

  #latency(): number {
    const { clock, dice } = this.options;
    if (this.#delay === 0) return dice.time(Timing.latency);
    const latency = dice.time(Timing.latency + this.#delay);
    this.disturb(clock.now() + latency);
    return latency;
  }
}
