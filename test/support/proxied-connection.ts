import type { Socket } from 'node:net';
import { FrameSplitter } from './frame-splitter.js';
import { ProxyLane, type Pace } from './proxy-lane.js';
import {
  CONNECT_REQUEST,
  parseRequest,
  replyXid,
  type ZooKeeperRequest,
} from './zookeeper-request.js';

/** A request that is waited for, to cut its connection. */
export interface Trap {
  matches(request: ZooKeeperRequest): boolean;
  /** Whether the server still gets the request. */
  readonly forward: boolean;
  sprung(request: ZooKeeperRequest): void;
}

/** What a proxy does to its connections at the moment; it changes while they live. */
export interface Faults {
  holdRequests: boolean;
  holdReplies: boolean;
  pace?: Pace;
  trap?: Trap;
}

/** A client's connection to the proxy, and the proxy's to the server. */
export class ProxiedConnection {
  private readonly requests: ProxyLane;
  private readonly replies: ProxyLane;
  private handshake = true;
  private trapped: { request: ZooKeeperRequest; trap: Trap } | undefined;

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    private readonly faults: Faults,
    private readonly onForward: (request: ZooKeeperRequest) => void,
  ) {
    this.requests = new ProxyLane(server, () => faults.holdRequests);
    this.replies = new ProxyLane(
      client,
      () => faults.holdReplies,
      () => faults.pace,
    );
    listen(client, this.requests, (frame) => this.onRequest(frame));
    listen(server, this.replies, (frame) => this.onReply(frame));
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
