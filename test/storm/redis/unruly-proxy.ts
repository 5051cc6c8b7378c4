import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { eventually } from '../../support/time.js';
import { type RespFrame, RespSplitter } from '../../support/redis-proxy.js';
import { type Arrival, type CommandLog, type LoggedCommand, replyText } from './findings.js';
import type { PrimaryAndReplica } from './weather.js';

interface Item<T> {
  readonly what: T;
  readonly dueAt: number;
}

/** One direction of a connection: it delivers in order, each thing after a delay, and nothing while it is held. */
export class SlowLane<T> {
  /** What comes in from now on is delivered that many ms later. */
  latency = 0;
  #isHeld = false;
  #items: Item<T>[] = [];
  #timer?: NodeJS.Timeout;

  constructor(private readonly deliver: (what: T) => void) {}

  get isHeld(): boolean {
    return this.#isHeld;
  }

  push(what: T): void {
    this.#items.push({ what, dueAt: performance.now() + this.latency });
    this.#drain();
  }

  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    this.#drain();
  }

  /** Removes what was not delivered yet. */
  takeAll(): T[] {
    clearTimeout(this.#timer);
    return this.#items.splice(0).map(({ what }) => what);
  }

  #drain(): void {
    clearTimeout(this.#timer);
    while (!this.#isHeld && this.#items.length > 0) {
      const left = this.#items[0]!.dueAt - performance.now();
      if (left > 0) {
        this.#timer = setTimeout(() => this.#drain(), left);
        return;
      }
      this.deliver(this.#items.shift()!.what);
    }
  }
}

/** Settings of a connection through the proxy. */
export interface UnrulySettings {
  readonly number: number;
  readonly server: number;
  readonly log: CommandLog;
  readonly random: () => number;
  /** Maximum time from the end of the client's side to the arrival of what it had sent, in ms. */
  readonly longestLate: number;
  /** Share of the abandoned connections on which commands are written a second time. */
  readonly replayed: number;
  /** Whether that includes commands that the client saw answered. */
  readonly areAnsweredReplayed: boolean;
  /** Whether the server is the primary now. */
  isPrimary(): boolean;
}

interface Request {
  readonly frame: RespFrame;
  readonly entry: LoggedCommand;
}

interface Answer {
  readonly bytes: Buffer;
  readonly to?: LoggedCommand;
}

/** Maximum number of the last commands of a connection that may be written a second time. */
const REMEMBERED = 50;
/**
 * A command answered at most this long before the end, in ms, may still be written a second time. Less than the shortest lease
 * has left then: a lease that expired before anything was wrong with the connection leaves nothing that a copy could be
 * recognised by.
 */
const REPEATED = 300;

/**
 * A connection through the proxy. It outlives its client's side: what the client had sent, and the server had not received,
 * arrives some time later, as TCP continues to send what was written to a socket that was closed since. In the same way the
 * last commands, which the server has received, may arrive once more.
 *
 * The repeated commands are always the last ones before the end, all of them and in their order: a network that sends one
 * packet again also sends those behind it again. They are those that the client got no answer to, and at random some before
 * them: more than TCP would do, which delivers nothing twice.
 */
export class UnrulyConnection {
  readonly requests: SlowLane<Request>;
  readonly replies: SlowLane<Answer>;
  /** Settles when nothing more arrives at the server through it. */
  readonly over: Promise<void>;
  /** How many commands arrived at the server late, or again. */
  late = 0;
  again = 0;
  client = '?';
  readonly #unanswered: LoggedCommand[] = [];
  readonly #sent: Request[] = [];
  #isSubscriber = false;
  #isDestroyed = false;

  constructor(
    private readonly near: Socket,
    private readonly far: Socket,
    private readonly settings: UnrulySettings,
  ) {
    this.requests = new SlowLane((request) => this.#write(request, 'at once'));
    this.replies = new SlowLane((answer) => this.#tell(answer));
    const [requests, replies] = [new RespSplitter(), new RespSplitter()];
    for (const socket of [near, far]) socket.setNoDelay(true).on('error', () => {}); // `close` follows
    near.on('data', (bytes: Buffer) => requests.push(bytes).forEach((frame) => this.#ask(frame)));
    far.on('data', (bytes: Buffer) => replies.push(bytes).forEach((frame) => this.#reply(frame)));
    far.on('close', () => near.destroy());
    this.over = new Promise((resolve) => near.on('close', () => resolve(this.#end())));
  }

  get isOpen(): boolean {
    return !this.near.destroyed;
  }

  /** Ends the client's side. */
  cut(): void {
    this.near.destroy();
  }

  /** Ends both sides: nothing more arrives. */
  destroy(): void {
    this.#isDestroyed = true;
    this.near.destroy();
    this.far.destroy();
  }

  /** From now on everything passes at once. */
  calm(): void {
    for (const lane of [this.requests, this.replies]) {
      lane.latency = 0;
      lane.release();
    }
  }

  #ask(frame: RespFrame): void {
    const command = frame.value as readonly string[];
    const [name = '', ...args] = command.map((part) => part.toLowerCase());
    if (name === 'client' && args[0] === 'setname') this.client = args[1]!;
    if (name.endsWith('subscribe')) this.#isSubscriber = true;
    const { number, server, log } = this.settings;
    const { client } = this;
    const entry = { command, connection: number, client, server, sentAt: performance.now() };
    this.requests.push({ frame, entry: log.add(entry) });
  }

  #reply(frame: RespFrame): void {
    const isAnswer = !this.#isSubscriber && frame.type !== '>';
    this.replies.push({ bytes: frame.bytes, to: isAnswer ? this.#answered(frame) : undefined });
  }

  #answered(frame: RespFrame): LoggedCommand | undefined {
    const entry = this.#unanswered.shift();
    if (!entry) return undefined;
    entry.reply = replyText(frame);
    entry.repliedAt = performance.now();
    entry.isStale = !this.settings.isPrimary();
    return entry;
  }

  #tell({ bytes, to }: Answer): void {
    if (!this.near.writable) return;
    this.near.write(bytes);
    if (to) to.toldAt = performance.now();
  }

  #write({ frame, entry }: Request, arrival: Arrival): void {
    if (!this.far.writable) return;
    const isScript = entry.command[0]!.toLowerCase().startsWith('eval');
    if (isScript && arrival !== 'again') this.#sent.push({ frame, entry });
    if (this.#sent.length > REMEMBERED) this.#sent.shift();
    entry.arrival = arrival;
    entry.arrivedAt = performance.now();
    this.#unanswered.push(entry);
    this.far.write(frame.bytes);
  }

  /** The client's side has ended. */
  async #end(): Promise<void> {
    this.replies.takeAll();
    const kept = this.requests.takeAll();
    if (this.#isDestroyed) return;
    const endedAt = performance.now();
    const { random } = this.settings;
    if (kept.length > 0 && !this.#isSubscriber) {
      await this.#longWait();
      for (const request of kept) this.#write(request, 'late');
      this.late += kept.length;
    }
    if (random() < this.settings.replayed) {
      await this.#longWait();
      this.#replay(endedAt);
    }
    await this.#allAnswered();
    this.far.destroy();
  }

  #replay(endedAt: number): void {
    const { random, log, areAnsweredReplayed } = this.settings;
    const since = areAnsweredReplayed ? endedAt - random() * REPEATED : Infinity;
    const repeated = this.#sent.filter(({ entry: { toldAt = Infinity } }) => toldAt >= since);
    for (const { frame, entry } of repeated) {
      const { command, connection, client, server, sentAt } = entry;
      const copy = log.add({ command, connection, client, server, sentAt });
      this.#write({ frame, entry: copy }, 'again');
    }
    this.again += repeated.length;
  }

  /** Sooner rather than later: a copy does most harm while waiters for the same lock are active. */
  #longWait(): Promise<void> {
    const { random, longestLate } = this.settings;
    return new Promise((resolve) => setTimeout(resolve, random() ** 2 * longestLate));
  }

  /** Redis drops the commands of a client that ends before it is served: the server may be paused or frozen. */
  async #allAnswered(): Promise<void> {
    const isAnswered = () => this.far.destroyed || this.#unanswered.length === 0;
    if (!this.#isSubscriber) await eventually('it is answered', isAnswered).catch(() => {});
  }
}

const LONGEST_LATE = 8_000;
const REPLAYED = 0.5;
const ARE_ANSWERED_REPLAYED = process.env.REDIS_STORM_REPLAYS !== 'unanswered';

/**
 * The name that clients know the primary by: a client that connects reaches the server that is the primary then, and stays with
 * it. For the life of its connections, see {@link UnrulyConnection}.
 */
export class UnrulyProxy {
  readonly host = '127.0.0.1';
  readonly #listener = createServer((near) => this.#accept(near));
  readonly #connections = new Set<UnrulyConnection>();
  #accepted = 0;
  #late = 0;
  #again = 0;

  private constructor(
    private readonly servers: PrimaryAndReplica,
    private readonly log: CommandLog,
    private readonly random: () => number,
  ) {}

  static async start(
    servers: PrimaryAndReplica,
    log: CommandLog,
    random: () => number,
  ): Promise<UnrulyProxy> {
    const proxy = new UnrulyProxy(servers, log, random);
    proxy.#listener.listen(0, proxy.host);
    await once(proxy.#listener, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port;
  }

  /** The connections that their clients have not given up. */
  get open(): UnrulyConnection[] {
    return [...this.#connections].filter(({ isOpen }) => isOpen);
  }

  /** How many connections it accepted, and how many commands arrived at a server late, or again. */
  get counts(): { connections: number; late: number; again: number } {
    return { connections: this.#accepted, late: this.#late, again: this.#again };
  }

  /** Ends all faults of connections; resolves when nothing is on its way to a server that its client has given up. */
  async calm(): Promise<void> {
    for (const connection of this.#connections) connection.calm();
    const givenUp = [...this.#connections].filter(({ isOpen }) => !isOpen);
    await Promise.all(givenUp.map(({ over }) => over));
  }

  /** Waits until the closed clients have ended their connections, and the last copies of commands have arrived. */
  async drained(): Promise<void> {
    await eventually('the connections are closed', () => this.open.length === 0);
    await this.calm();
  }

  /** Ends all connections and refuses new ones. */
  async stop(): Promise<void> {
    const closed = once(this.#listener, 'close');
    this.#listener.close();
    for (const connection of this.#connections) connection.destroy();
    await closed;
  }

  #accept(near: Socket): void {
    const { servers, log, random } = this;
    const server = servers.primary;
    const far = connect(server.port, server.host);
    const connection = new UnrulyConnection(near, far, {
      number: (this.#accepted += 1),
      server: servers.all.indexOf(server) + 1,
      log,
      random,
      longestLate: LONGEST_LATE,
      replayed: REPLAYED,
      areAnsweredReplayed: ARE_ANSWERED_REPLAYED,
      isPrimary: () => servers.primary === server,
    });
    this.#connections.add(connection);
    void connection.over.then(() => {
      this.#connections.delete(connection);
      this.#late += connection.late;
      this.#again += connection.again;
    });
  }
}
