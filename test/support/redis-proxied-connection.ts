import type { Socket } from 'node:net';
import type { LateConnection, LateCopy } from './late-copy.js';
import { ProxyLane } from './proxy-lane.js';
import { RespSplitter, type RespFrame } from './resp-splitter.js';

/** What a proxy does to its connections at the moment; it changes while they live. */
export interface RedisFaults {
  areRequestsHeld: boolean;
  areRepliesHeld: boolean;
  /** Is the reply to this command to be lost? Asked once for each; if so, it gives what to call when it is. */
  loss(command: readonly string[]): (() => void) | undefined;
  /** Is there to be a late copy of this command, and of what comes behind it? */
  late(command: readonly string[], connection: LateConnection): LateCopy | undefined;
}

/** A command that still waits for its reply. */
interface Unanswered {
  readonly name: string;
  /** How many replies it gets: a subscription is confirmed channel by channel. */
  replies: number;
  readonly onLost?: () => void;
  /** Gets the reply in place of the client. */
  readonly onReply?: (reply: RespFrame) => void;
}

/** A client's connection to the proxy, and the proxy's to the server. */
export class RedisProxiedConnection implements LateConnection {
  /** What the client sent. */
  readonly commands: (readonly string[])[] = [];
  private readonly requests: ProxyLane;
  private readonly replies: ProxyLane;
  private readonly unanswered: Unanswered[] = [];
  private hasSubscribed = false;
  private isDoomed = false;
  private late?: LateCopy;

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    private readonly faults: RedisFaults,
    private readonly onCommand: (command: readonly string[]) => void,
  ) {
    this.requests = new ProxyLane(server, () => faults.areRequestsHeld);
    this.replies = new ProxyLane(client, () => faults.areRepliesHeld);
    listen(
      client,
      (frame) => this.onRequest(frame),
      () => this.late ?? this.requests.push('end'),
    );
    listen(
      server,
      (frame) => this.onReply(frame),
      () => this.replies.push('end'),
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

  /** Ends it; what is held is lost. */
  cut(): void {
    this.client.destroy();
    this.server.destroy();
  }

  abandon(): void {
    this.client.destroy();
  }

  async send(frames: readonly RespFrame[]): Promise<readonly RespFrame[]> {
    const replies = frames.map(
      ({ bytes }) =>
        new Promise<RespFrame>((resolve, reject) => {
          if (!this.server.writable) return reject(new Error('The server has ended it.'));
          this.server.once('close', () => reject(new Error('The server has not answered.')));
          this.unanswered.push({ name: '', replies: 1, onReply: resolve });
          this.server.write(bytes);
        }),
    );
    return await Promise.all(replies);
  }

  private onRequest(frame: RespFrame): void {
    if (this.isDoomed) return; // as good as cut: what comes after the lost reply's command must not be carried out
    const command = frame.value as readonly string[];
    this.late ??= this.faults.late(command, this);
    const isSent = this.late?.take(frame) ?? true;
    this.commands.push(command);
    this.onCommand(command);
    if (isSent) this.request(command, frame.bytes);
  }

  private request(command: readonly string[], bytes: Buffer): void {
    const name = command[0]!.toLowerCase();
    const isSubscription = name.endsWith('subscribe');
    const replies = isSubscription ? Math.max(command.length - 1, 1) : 1;
    const onLost = this.faults.loss(command);

    this.hasSubscribed ||= isSubscription;
    this.isDoomed = onLost !== undefined;
    this.unanswered.push({ name, replies, onLost });
    this.requests.push(bytes);
  }

  private onReply(frame: RespFrame): void {
    const command = this.unanswered[0];
    if (command && this.isReplyTo(command, frame)) {
      if (command.onLost) {
        this.unanswered.shift();
        if (this.late) this.abandon();
        else this.cut();
        return command.onLost();
      }
      if (--command.replies === 0 || frame.type === '-') this.unanswered.shift();
      if (command.onReply) return command.onReply(frame);
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

function listen(socket: Socket, onFrame: (frame: RespFrame) => void, onClose: () => void): void {
  const splitter = new RespSplitter();
  socket.setNoDelay(true);
  socket.on('data', (bytes: Buffer) => splitter.push(bytes).forEach(onFrame));
  socket.on('error', () => {}); // `close` follows
  socket.on('close', onClose);
}
