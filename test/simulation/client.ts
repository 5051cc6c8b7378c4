import type { Clock, Timer } from '../../lib/core/clock.js';
import type { ErrorPolicy } from '../../lib/core/election/election-backend.js';
import { LockEventEmitter } from '../../lib/core/internal/lock-event-emitter.js';
import { Outbox } from '../../lib/embedded/embedded-transport.js';
import { RetryForever } from '../../lib/zookeeper/connection/retry-policies.js';
import type { Servers } from '../../lib/zookeeper/connection/server-list.js';
import { SessionConnection } from '../../lib/zookeeper/connection/session-connection.js';
import type {
  LinkListener,
  OpenOptions,
  Reply,
  Request,
  Transport,
  TransportLink,
} from '../../lib/zookeeper/connection/transport.js';
import { ZooKeeperLockClient } from '../../lib/zookeeper/zookeeper-lock-client.js';
import { FaultyTransport } from '../support/transports.js';
import type { Dice } from './dice.js';
import type { ClientServers, Follower } from './ensemble.js';
import { Times, Timing } from './timing.js';

interface Work {
  readonly kind: 'timer' | 'message';
  readonly run: () => void;
}

/**
 * The event loop of one simulated process: its timers, and the messages that reach it. It can be frozen, as by SIGSTOP or a
 * long garbage collection: time goes on, and what came meanwhile is processed afterwards. Or killed: then never.
 */
export class SimulatedProcess implements Clock {
  #state: 'running' | 'frozen' | 'dead' = 'running';
  /** What came while it was frozen, and what came since and waits behind that. */
  #backlog: Work[] = [];
  readonly #timers = new Set<object>();
  /** When it last began to run again. */
  thawedAt = 0;
  /** However many messages arrive at once, all work caused by one has run before the next is read. */
  readonly #socket = new Outbox((read) => process.nextTick(read));

  constructor(private readonly world: Clock) {}

  get isRunning(): boolean {
    return this.#state === 'running';
  }

  get isDead(): boolean {
    return this.#state === 'dead';
  }

  get pendingTimers(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.world.now();
  }

  setTimer(fn: () => void, ms: number): Timer {
    const entry = {};
    this.#timers.add(entry);
    const run = () => void (this.#timers.delete(entry) && fn());
    const timer = this.world.setTimer(() => this.#enter({ kind: 'timer', run }), ms);
    return {
      cancel: () => {
        this.#timers.delete(entry);
        timer.cancel();
      },
    };
  }

  /** A message from outside, processed when the process can. */
  receive(run: () => void): void {
    this.#socket.push(() => this.#enter({ kind: 'message', run }));
  }

  freeze(): void {
    if (this.#state === 'running') this.#state = 'frozen';
  }

  /** Ends `freeze`: what came meanwhile is processed, each thing in a turn of its own, that kind first. */
  thaw(first: Work['kind']): void {
    if (this.#state !== 'frozen') return;
    this.#state = 'running';
    this.thawedAt = this.now();
    const isFirst = ({ kind }: Work) => kind === first;
    const backlog = this.#backlog;
    this.#backlog = [...backlog.filter(isFirst), ...backlog.filter((work) => !isFirst(work))];
    this.#workOff();
  }

  kill(): void {
    this.#state = 'dead';
    this.#backlog = [];
    this.#timers.clear();
  }

  #enter(work: Work): void {
    if (this.#state === 'dead') return;
    if (this.#state === 'running' && this.#backlog.length === 0) work.run();
    else this.#backlog.push(work);
  }

  #workOff(): void {
    if (this.#backlog.length === 0) return;
    this.world.setTimer(() => {
      if (this.#state !== 'running') return;
      this.#backlog.shift()?.run();
      this.#workOff();
    }, 0);
  }
}

/** Observes the messages between a client and the server. */
export interface Eavesdropper {
  /** Called when the request is under way; the returned function when its answer has been read by the client. */
  sent(request: Request): (rc: number) => void;
}

/** Lets what comes from a transport into a process only while that runs, each message in a turn of its own. */
export class ProcessTransport implements Transport {
  constructor(
    private readonly below: Transport,
    private readonly process: SimulatedProcess,
    private readonly eavesdropper: Eavesdropper,
  ) {}

  open(options: OpenOptions, listener: LinkListener): TransportLink {
    const link = this.below.open(options, this.#admitted(listener));
    return {
      request: (request, reply) => this.#request(link, request, reply),
      detach: (session) => link.detach(session),
      close: () => link.close(),
    };
  }

  close(): Promise<void> {
    return this.below.close();
  }

  #request(link: TransportLink, request: Request, reply: Reply): void {
    let answered = (_rc: number) => {};
    link.request(request, (rc, answer) =>
      this.process.receive(() => {
        answered(rc);
        reply(rc, answer);
      }),
    );
    answered = this.eavesdropper.sent(request);
  }

  #admitted(listener: LinkListener): LinkListener {
    const admit = (message: () => void) => this.process.receive(message);
    return {
      onConnected: (credentials) => admit(() => listener.onConnected(credentials)),
      onDisconnected: (reason) => admit(() => listener.onDisconnected(reason)),
      onExpired: (reason) => admit(() => listener.onExpired(reason)),
      onWatch: (type, path) => admit(() => listener.onWatch(type, path)),
    };
  }
}

export interface SimulatedClientOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly transport: Transport;
  readonly servers: Servers | ClientServers;
  readonly errorPolicy: ErrorPolicy;
  readonly eavesdropper: Eavesdropper;
  readonly sessionTimeout: number;
  readonly dice: Dice;
}

/** A process of its own with a lock client, and its link to the server, which the methods obstruct. */
export class SimulatedClient {
  readonly process: SimulatedProcess;
  readonly network: FaultyTransport;
  readonly connection: SessionConnection;
  readonly locks: ZooKeeperLockClient;
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
    this.connection = new SessionConnection({
      transport: new ProcessTransport(this.network, this.process, eavesdropper),
      servers,
      sessionTimeout,
      tickTime: Timing.tick,
      clock: this.process,
      random: dice.random,
    });
    this.connection.onStateChange(() => {
      if (this.connection.isConnected) this.connectedAt = clock.now();
    });
    this.locks = new ZooKeeperLockClient({
      name,
      connection: this.connection,
      events: new LockEventEmitter(),
      clock: this.process,
      basePath: '/locks',
      literalPaths: true,
      connectTimeout: 3_000,
      wait: 'forever',
      retryPolicy: new RetryForever(Timing.retry),
      errorPolicy: options.errorPolicy,
    });
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
    if (this.#partitions++ === 0) this.network.partition();
    return () => {
      relieve();
      if (--this.#partitions === 0) this.network.heal();
    };
  }

  /** The server accepts no new connections from it; the returned function ends that. */
  refuse(): () => void {
    this.#refusals += 1;
    this.network.isRefusing = true;
    return () => {
      this.network.isRefusing = --this.#refusals > 0;
      this.disturb();
    };
  }

  /** Messages take up to `delay` longer; the returned function ends that. */
  slowDown(delay: number): () => void {
    this.#delay = delay;
    return () => void (this.#delay = 0);
  }

  kill(): void {
    this.process.kill();
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

  #latency(): number {
    const { clock, dice } = this.options;
    if (this.#delay === 0) return dice.time(Timing.latency);
    const latency = dice.time(Timing.latency + this.#delay);
    this.disturb(clock.now() + latency);
    return latency;
  }
}
