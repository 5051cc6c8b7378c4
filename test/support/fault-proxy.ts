import { once } from 'node:events';
import { connect, createServer, isIPv6, type Server, type Socket } from 'node:net';
import { freePorts } from './free-ports.js';
import { ProxiedConnection, type Faults } from './proxied-connection.js';
import type { ZooKeeperRequest } from './zookeeper-request.js';

const START_ATTEMPTS = 5;

/**
 * A TCP proxy on loopback in front of a ZooKeeper server, for faults of the network between them.
 *
 * It runs on the event loop of the test. The native driver blocks that loop in `close()` until it is answered, for
 * 1.5 s at most, so a close through the proxy takes that long; `cut()` before the close avoids it.
 */
export class FaultProxy {
  private readonly connections = new Set<ProxiedConnection>();
  private readonly counts = new Map<number, number>();
  private readonly faults: Faults = { holdRequests: false, holdReplies: false };
  private readonly listener: Server;
  private acceptedCount = 0;

  private constructor(
    private readonly target: { readonly host: string; readonly port: number },
    readonly port: number,
  ) {
    this.listener = createServer((client) => this.onConnection(client));
  }

  /** Starts a proxy on a free port of the server's loopback address. The server need not run yet. */
  static async start(server: {
    readonly host: string;
    readonly port: number;
  }): Promise<FaultProxy> {
    for (let attempt = 1; ; attempt++) {
      const [port] = await freePorts(1, server.host);
      const proxy = new FaultProxy(server, port!);
      try {
        await proxy.accept();
        return proxy;
      } catch (error) {
        if (attempt === START_ATTEMPTS) throw error; // else another process won the port
      }
    }
  }

  /** `host:port`, as clients want it. */
  get connectString(): string {
    const { host } = this.target;
    return isIPv6(host) ? `[${host}]:${this.port}` : `${host}:${this.port}`;
  }

  /** How many connections it accepted since it started. */
  get accepted(): number {
    return this.acceptedCount;
  }

  /** How many connections are open now. */
  get open(): number {
    return [...this.connections].filter((connection) => !connection.closed).length;
  }

  /** How many requests went through since it started: of the given types of `OpCode`, or of all. */
  requestCount(...opcodes: number[]): number {
    const counted = opcodes.length === 0 ? [...this.counts.keys()] : opcodes;
    return counted.reduce((sum, opcode) => sum + (this.counts.get(opcode) ?? 0), 0);
  }

  /** Ends all connections; new ones are welcome. */
  cut(): void {
    for (const connection of this.connections) connection.cut();
  }

  /** Ends all connections by a TCP reset; new ones are welcome. */
  reset(): void {
    for (const connection of this.connections) connection.reset();
  }

  /** From now on new connections are refused by the system, as if no server ran; open ones stay. */
  refuse(): void {
    this.listener.close();
  }

  /** Takes new connections again. */
  async accept(): Promise<void> {
    if (this.listener.listening) return;
    this.listener.listen(this.port, this.target.host);
    await once(this.listener, 'listening');
  }

  /** A black hole: connections stay open, also new ones, but nothing arrives in either direction. */
  hold(): void {
    this.faults.holdRequests = this.faults.holdReplies = true;
  }

  /** Requests arrive at the server, but its replies and watch events stay away. */
  holdReplies(): void {
    this.faults.holdReplies = true;
  }

  /** Ends `hold` and `holdReplies`: everything kept arrives now, in order. */
  release(): void {
    this.faults.holdRequests = this.faults.holdReplies = false;
    for (const connection of this.connections) connection.deliver();
  }

  /**
   * Waits for the first request that fits, lets the server carry it out, and cuts its connection instead of
   * delivering the reply. Requests sent after it on that connection are lost.
   *
   * @returns the request, once its connection is cut
   */
  cutAfter(matches: (request: ZooKeeperRequest) => boolean): Promise<ZooKeeperRequest> {
    return this.setTrap(matches, true);
  }

  /**
   * Waits for the first request that fits, and cuts its connection instead of passing it on.
   *
   * @returns the request, once its connection is cut
   */
  cutBefore(matches: (request: ZooKeeperRequest) => boolean): Promise<ZooKeeperRequest> {
    return this.setTrap(matches, false);
  }

  /** From now on replies come `chunk` bytes at a time, `delay` milliseconds apart. */
  slowReplies(chunk: number, delay: number): void {
    this.faults.pace = { chunk, delay };
  }

  /** Ends `slowReplies`. */
  fullSpeed(): void {
    this.faults.pace = undefined;
  }

  /** Ends all connections and refuses new ones. */
  stop(): void {
    this.refuse();
    this.cut();
  }

  private setTrap(
    matches: (request: ZooKeeperRequest) => boolean,
    forward: boolean,
  ): Promise<ZooKeeperRequest> {
    return new Promise((sprung) => (this.faults.trap = { matches, forward, sprung }));
  }

  private onConnection(client: Socket): void {
    this.acceptedCount++;
    const server = connect(this.target.port, this.target.host);
    const connection = new ProxiedConnection(client, server, this.faults, ({ opcode }) =>
      this.counts.set(opcode, (this.counts.get(opcode) ?? 0) + 1),
    );
    const forget = () => connection.closed && this.connections.delete(connection);
    client.on('close', forget);
    server.on('close', forget);
    this.connections.add(connection);
  }
}
