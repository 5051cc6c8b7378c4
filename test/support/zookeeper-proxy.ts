import { once } from 'node:events';
import { isIPv6, type Socket } from 'node:net';
import { freePorts, startedOnFreePorts } from './processes.js';
import { ProxiedConnection, TcpProxy, type Faults, type ProxyLane } from './proxies.js';

/** Types of requests in the ZooKeeper protocol. */
export const OpCode = {
  closeSession: -11,
  createSession: -10,
  create: 1,
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  getAcl: 6,
  setAcl: 7,
  getChildren: 8,
  sync: 9,
  ping: 11,
  getChildren2: 12,
  check: 13,
  multi: 14,
  create2: 15,
  removeWatches: 18,
  createContainer: 19,
  createTtl: 21,
  auth: 100,
  setWatches: 101,
  setWatches2: 105,
  addWatch: 106,
} as const;

/** Whether a request of that type is one of that operation: the drivers create by different types. */
export function isOperation(opcode: number, operation: keyof typeof OpCode): boolean {
  return opcode === OpCode[operation] || (operation === 'create' && opcode === OpCode.create2);
}

/**
 * A TCP proxy on loopback in front of a ZooKeeper server, for faults of the network between them.
 *
 * It runs on the event loop of the test. The native driver blocks that loop in `close()` until it is answered, for
 * 1.5 s at most, so a close through the proxy takes that long; `cut()` before the close avoids it.
 */
export class FaultProxy extends TcpProxy<ZooKeeperConnection> {
  private readonly counts = new Map<number, number>();
  protected readonly faults: ZooKeeperFaults = { holdRequests: false, holdReplies: false };
  private acceptedCount = 0;

  /** Starts a proxy on a free port of the server's loopback address. */
  static start(server: { readonly host: string; readonly port: number }): Promise<FaultProxy> {
    return startedOnFreePorts(
      async () => new FaultProxy(server, (await freePorts(1, server.host))[0]!),
      (proxy) => proxy.accept(),
    );
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

  protected connection(client: Socket, server: Socket): ZooKeeperConnection {
    this.acceptedCount++;
    return new ZooKeeperConnection(client, server, this.faults, ({ opcode }) =>
      this.counts.set(opcode, (this.counts.get(opcode) ?? 0) + 1),
    );
  }
}

/** A request that is waited for, to cut its connection. */
export interface Trap {
  matches(request: ZooKeeperRequest): boolean;
  /** Whether the server still gets the request. */
  readonly forward: boolean;
  sprung(request: ZooKeeperRequest): void;
}

interface ZooKeeperFaults extends Faults {
  trap?: Trap;
}

class ZooKeeperConnection extends ProxiedConnection {
  private handshake = true;
  private trapped: { request: ZooKeeperRequest; trap: Trap } | undefined;

  constructor(
    client: Socket,
    server: Socket,
    private readonly faults: ZooKeeperFaults,
    private readonly onForward: (request: ZooKeeperRequest) => void,
  ) {
    super(client, server, faults);
    listen(client, this.requests, (frame) => this.onRequest(frame));
    listen(server, this.replies, (frame) => this.onReply(frame));
  }

  /** Ends it; what is held is lost. The client sees a reset. */
  reset(): void {
    this.client.resetAndDestroy();
    this.server.destroy();
  }

  private onRequest(frame: Buffer): void {
    if (this.trapped) return; // the connection is as good as cut
    const request = this.handshake ? CONNECT_REQUEST : parseRequest(frame);
    this.handshake = false;

    const { trap } = this.faults;
    if (trap?.matches(request)) {
      this.faults.trap = undefined;
      this.trapped = { request, trap };
      if (!trap.forward) return this.spring();
    }
    this.onForward(request);
    this.requests.push(frame);
  }

  private onReply(frame: Buffer): void {
    if (this.trapped && replyXid(frame) === this.trapped.request.xid) return this.spring();
    this.replies.push(frame);
  }

  private spring(): void {
    const { request, trap } = this.trapped!;
    this.cut();
    trap.sprung(request);
  }
}

function listen(socket: Socket, lane: ProxyLane, onFrame: (frame: Buffer) => void): void {
  const splitter = new FrameSplitter();
  socket.setNoDelay(true);
  socket.on('data', (bytes: Buffer) => splitter.push(bytes).forEach(onFrame));
  socket.on('error', () => {}); // `close` follows
  socket.on('close', () => lane.push('end'));
}

const HEADER = 4 + 4 + 4; // length, xid, type

/** A request as a client sent it. */
export interface ZooKeeperRequest {
  /** One of `OpCode`. */
  readonly opcode: number;
  /** Number by which the reply refers to it. */
  readonly xid: number;
  /** The path that it is about; empty for requests without one. */
  readonly path: string;
}

/** The first frame of a connection: it has no header. */
export const CONNECT_REQUEST: ZooKeeperRequest = {
  opcode: OpCode.createSession,
  xid: 0,
  path: '',
};

/** Reads a request from its frame. */
export function parseRequest(frame: Buffer): ZooKeeperRequest {
  const opcode = frame.readInt32BE(8);
  return { opcode, xid: frame.readInt32BE(4), path: PATHLESS.has(opcode) ? '' : readPath(frame) };
}

/** The number of the request that a reply answers; negative for watch events and pings. */
export function replyXid(frame: Buffer): number {
  return frame.readInt32BE(4);
}

const PATHLESS = new Set<number>([
  OpCode.closeSession,
  OpCode.ping,
  OpCode.multi,
  OpCode.auth,
  OpCode.setWatches,
  OpCode.setWatches2,
]);

function readPath(frame: Buffer): string {
  if (frame.length < HEADER + 4) return '';
  const length = frame.readInt32BE(HEADER);
  return frame.toString('utf8', HEADER + 4, HEADER + 4 + length);
}

/** Cuts a byte stream into ZooKeeper's frames: a length of four bytes, then as many bytes. */
export class FrameSplitter {
  private rest = Buffer.alloc(0);

  /** The frames that are complete with these bytes, each with its length in front. */
  push(bytes: Buffer): Buffer[] {
    this.rest = Buffer.concat([this.rest, bytes]);
    const frames: Buffer[] = [];
    while (this.rest.length >= 4) {
      const end = 4 + this.rest.readInt32BE(0);
      if (this.rest.length < end) break;
      frames.push(this.rest.subarray(0, end));
      this.rest = this.rest.subarray(end);
    }
    return frames;
  }
}
