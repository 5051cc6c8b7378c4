import type { Socket } from 'node:net';
import { ProxyLane } from './proxy-lane.js';
import { RespSplitter, type RespFrame } from './resp-splitter.js';

/** Tells the commands that are meant, by their name and arguments as they were sent. */
export type CommandFilter = (command: readonly string[]) => boolean;

/** What a proxy does to its connections at the moment; it changes while they live. */
export interface RedisFaults {
  areRequestsHeld: boolean;
  areRepliesHeld: boolean;
  /** Is the reply to this command to be lost? Asked once for each; if so, it gives what to call when it is. */
  loss(command: readonly string[]): (() => void) | undefined;
}

/** A command whose reply is still to come. */
interface Unanswered {
  readonly name: string;
  /** How many replies it gets: a subscription is confirmed channel by channel. */
  replies: number;
  readonly onLost?: () => void;
}

/** A client's connection to the proxy, and the proxy's to the server. */
export class RedisProxiedConnection {
  /** What the client sent. */
  readonly commands: (readonly string[])[] = [];
  private readonly requests: ProxyLane;
  private readonly replies: ProxyLane;
  private readonly unanswered: Unanswered[] = [];
  private hasSubscribed = false;
  private isDoomed = false;

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    private readonly faults: RedisFaults,
    private readonly onCommand: (command: readonly string[]) => void,
  ) {
    this.requests = new ProxyLane(server, () => faults.areRequestsHeld);
    this.replies = new ProxyLane(client, () => faults.areRepliesHeld);
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

  /** Ends it; what is held is lost. */
  cut(): void {
    this.client.destroy();
    this.server.destroy();
  }

  private onRequest({ value, bytes }: RespFrame): void {
    if (this.isDoomed) return; // as good as cut: what comes after the lost reply's command must not be carried out
    const command = value as readonly string[];
    const name = command[0]!.toLowerCase();
    const isSubscription = name.endsWith('subscribe');
    const replies = isSubscription ? Math.max(command.length - 1, 1) : 1;
    const onLost = this.faults.loss(command);

    this.hasSubscribed ||= isSubscription;
    this.isDoomed = onLost !== undefined;
    this.unanswered.push({ name, replies, onLost });
    this.commands.push(command);
    this.onCommand(command);
    this.requests.push(bytes);
  }

  private onReply(frame: RespFrame): void {
    const command = this.unanswered[0];
    if (command && this.isReplyTo(command, frame)) {
      if (command.onLost) {
        this.cut();
        return command.onLost();
      }
      if (--command.replies === 0 || frame.type === '-') this.unanswered.shift();
    }
    this.replies.push(frame.bytes);
  }

  /** Or is it a message of a subscription? */
  private isReplyTo({ name }: Unanswered, { type, value }: RespFrame): boolean {
    const mayBePushed = type === '>' || (type === '*' && this.hasSubscribed);
    const kind = mayBePushed && Array.isArray(value) ? String(value[0]) : '';
    if (kind.endsWith('subscribe')) return kind === name;
    return type !== '>' && !kind.endsWith('message');
  }
}

function listen(socket: Socket, lane: ProxyLane, onFrame: (frame: RespFrame) => void): void {
  const splitter = new RespSplitter();
  socket.setNoDelay(true);
  socket.on('data', (bytes: Buffer) => splitter.push(bytes).forEach(onFrame));
  socket.on('error', () => {}); // `close` follows
  socket.on('close', () => lane.push('end'));
}
