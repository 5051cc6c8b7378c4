import type { Clock, Timer } from '../../lib/core/clock.js';
import { Outbox } from '../../lib/embedded/embedded-transport.js';
import type {
  LinkListener,
  OpenOptions,
  Reply,
  Request,
  Transport,
  TransportLink,
} from '../../lib/zookeeper/connection/transport.js';

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
  /** How far its wall clock is ahead of the time of the world. */
  skew = 0;
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

  wall(): number {
    return this.now() + this.skew;
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

  /** Whether it matters what is processed first when it goes on. */
  get hasBoth(): boolean {
    return new Set(this.#backlog.map(({ kind }) => kind)).size > 1;
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
