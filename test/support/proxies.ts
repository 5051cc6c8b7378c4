import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** How slowly bytes are delivered. */
export interface Pace {
  /** Bytes at a time. */
  readonly chunk: number;
  /** Pause between two chunks in milliseconds. */
  readonly delay: number;
}

/** One direction of a proxied connection: it delivers in order, and keeps what it may not deliver yet. */
export class ProxyLane {
  private readonly waiting: (Buffer | 'end')[] = [];
  private delivering = false;

  constructor(
    private readonly to: Socket,
    private readonly held: () => boolean,
    private readonly pace: () => Pace | undefined = () => undefined,
  ) {}

  push(item: Buffer | 'end'): void {
    this.waiting.push(item);
    this.deliver();
  }

  /** Delivers what is waiting, unless the lane is held. */
  deliver(): void {
    if (!this.delivering) void this.drain();
  }

  /** Without a pace it runs through in the same tick. */
  private async drain(): Promise<void> {
    this.delivering = true;
    while (this.waiting.length > 0 && !this.held()) {
      const item = this.waiting.shift()!;
      const pace = this.pace();
      if (item === 'end') this.to.end();
      else if (pace) await this.drip(item, pace);
      else this.write(item);
    }
    this.delivering = false;
  }

  private async drip(bytes: Buffer, { chunk, delay: ms }: Pace): Promise<void> {
    for (let start = 0; start < bytes.length && !this.to.destroyed; start += chunk) {
      this.write(bytes.subarray(start, start + chunk));
      await delay(ms);
    }
  }

  private write(bytes: Buffer): void {
    if (this.to.writable) this.to.write(bytes);
  }
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** A TCP server on loopback that passes on what arrives to another one, and back. */
export abstract class Forwarder {
  readonly host = '127.0.0.1';
  readonly #sockets = new Set<Socket>();
  readonly #listener = createServer((near) => {
    const far = connect(this.target.port, this.target.host);
    this.#forward(near, far);
    this.#forward(far, near);
    this.connected();
  });

  constructor(protected target: Address) {}

  /** Listens on that port. Default: a free one. */
  async listen(port = 0): Promise<this> {
    this.#listener.listen(port, this.host);
    await once(this.#listener, 'listening');
    return this;
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const closed = this.#listener.listening && once(this.#listener, 'close');
    this.#listener.close();
    this.cut();
    await closed;
  }

  protected cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  protected connected(): void {}

  protected pass(bytes: Buffer, to: Socket): void {
    to.write(bytes);
  }

  protected ended(to: Socket): void {
    to.destroy();
  }

  #forward(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.on('data', (bytes) => this.pass(bytes, to));
    from.on('error', () => {}); // 'close' follows
    from.on('close', () => {
      this.#sockets.delete(from);
      this.ended(to);
    });
  }
}

/**
 * An address of several servers, one after the other, as the DNS name of a primary is: a client that connects reaches the one
 * that it stands for then, and stays there.
 */
export class MovingAddress extends Forwarder {
  /** How many connections were made. */
  connections = 0;

  static of(target: Address): Promise<MovingAddress> {
    return new MovingAddress(target).listen();
  }

  /** Stands for that server from now on. */
  moveTo(target: Address): void {
    this.target = target;
  }

  protected override connected(): void {
    this.connections += 1;
  }
}

/** A long way to a server: what is sent arrives, in either direction, that much later. */
export class Relay extends Forwarder {
  private constructor(
    target: Address,
    /** Each way, in milliseconds; what is sent from now on takes so long. */
    public delay: number,
  ) {
    super(target);
  }

  /** @param delay each way, in milliseconds */
  static start(target: Address, delay: number): Promise<Relay> {
    return new Relay(target, delay).listen();
  }

  protected override pass(bytes: Buffer, to: Socket): void {
    setTimeout(() => to.write(bytes), this.delay);
  }

  protected override ended(to: Socket): void {
    setTimeout(() => to.end(), this.delay);
  }
}

/** What a proxy does to its connections at the moment; it changes while they live. */
export interface Faults {
  holdRequests: boolean;
  holdReplies: boolean;
  pace?: Pace;
}

/** A client's connection to a proxy, and the proxy's to the server. */
export abstract class ProxiedConnection {
  protected readonly requests: ProxyLane;
  protected readonly replies: ProxyLane;

  constructor(
    protected readonly client: Socket,
    protected readonly server: Socket,
    faults: Faults,
  ) {
    this.requests = new ProxyLane(server, () => faults.holdRequests);
    this.replies = new ProxyLane(
      client,
      () => faults.holdReplies,
      () => faults.pace,
    );
  }

  get closed(): boolean {
    return this.client.destroyed && this.server.destroyed;
  }

  /** Delivers what was held and may go now. */
  deliver(): void {
    this.requests.deliver();
    this.replies.deliver();
  }

  /** Ends it; what is held is lost. The client sees an orderly end. */
  cut(): void {
    this.client.destroy();
    this.server.destroy();
  }
}

/** A TCP proxy on loopback in front of a server, for faults of the network between them. The server need not run yet. */
export abstract class TcpProxy<T extends ProxiedConnection> {
  protected readonly connections = new Set<T>();
  protected readonly listener: Server;
  protected abstract readonly faults: Faults;

  protected constructor(
    protected readonly target: Address,
    readonly port: number,
  ) {
    this.listener = createServer((client) => this.#connect(client));
  }

  /** How many connections are open now. */
  get open(): number {
    return [...this.connections].filter((connection) => !connection.closed).length;
  }

  /** A black hole: connections stay open, also new ones, but nothing arrives in either direction. */
  hold(): void {
    this.faults.holdRequests = this.faults.holdReplies = true;
  }

  /** Requests arrive at the server, but what it sends stays away. */
  holdReplies(): void {
    this.faults.holdReplies = true;
  }

  /** Ends `hold` and `holdReplies`: everything kept arrives now, in order. */
  release(): void {
    this.faults.holdRequests = this.faults.holdReplies = false;
    for (const connection of this.connections) connection.deliver();
  }

  protected abstract connection(client: Socket, server: Socket): T;

  #connect(client: Socket): void {
    const server = connect(this.target.port, this.target.host);
    const connection = this.connection(client, server);
    const forget = () => connection.closed && this.connections.delete(connection);
    client.on('close', forget);
    server.on('close', forget);
    this.connections.add(connection);
  }
}
