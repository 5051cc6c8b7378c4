import { once } from 'node:events';
import type { Socket } from 'node:net';
import { freePorts, startedOnFreePorts } from './processes.js';
import { ProxiedConnection, TcpProxy, type Faults } from './proxies.js';

/** A value of Redis's protocol: null, the text of a simple one, or the elements of an aggregate, of a map in turn. */
export type RespValue = string | null | readonly RespValue[];

/** A request or a reply as it was sent. */
export interface RespFrame {
  readonly bytes: Buffer;
  /** The character that its kind of value starts with: `+`, `*`, … */
  readonly type: string;
  readonly value: RespValue;
}

/** Cuts a byte stream into the requests, or the replies and pushed messages, of RESP2 and RESP3. */
export class RespSplitter {
  private rest: Buffer = Buffer.alloc(0);

  /** Those that are complete with these bytes. */
  push(bytes: Buffer): RespFrame[] {
    this.rest = Buffer.concat([this.rest, bytes]);
    const frames: RespFrame[] = [];
    for (let read = readValue(this.rest, 0); read; read = readValue(this.rest, 0)) {
      const type = String.fromCharCode(this.rest[0]!);
      frames.push({ bytes: this.rest.subarray(0, read.end), type, value: read.value });
      this.rest = this.rest.subarray(read.end);
    }
    return frames;
  }
}

interface Read {
  readonly value: RespValue;
  /** Where the next value starts. */
  readonly end: number;
}

/** Reads the value that starts there; undefined when a part of it is still to come. */
function readValue(bytes: Buffer, start: number): Read | undefined {
  const lineEnd = bytes.indexOf('\r\n', start);
  if (lineEnd < 0) return undefined;
  const type = String.fromCharCode(bytes[start]!);
  const line = bytes.toString('utf8', start + 1, lineEnd);
  const end = lineEnd + 2;

  if (SIMPLE.includes(type)) return { value: type === '_' ? null : line, end };
  if (line === '-1') return { value: null, end };
  if (BULK.includes(type)) return readBulk(bytes, end, Number(line));
  if (AGGREGATE.includes(type)) return readElements(bytes, end, Number(line));
  if (type === '%') return readElements(bytes, end, 2 * Number(line));
  throw new Error(`Not a value of RESP: ${type}${line}`);
}

const SIMPLE = '+-:_,#(';
const BULK = '$=!';
const AGGREGATE = '*~>';

function readBulk(bytes: Buffer, start: number, length: number): Read | undefined {
  const end = start + length + 2;
  if (bytes.length < end) return undefined;
  return { value: bytes.toString('utf8', start, start + length), end };
}

function readElements(bytes: Buffer, start: number, count: number): Read | undefined {
  const value: RespValue[] = [];
  let end = start;
  while (value.length < count) {
    const element = readValue(bytes, end);
    if (!element) return undefined;
    value.push(element.value);
    end = element.end;
  }
  return { value, end };
}

/** Chooses commands by their name and arguments as they were sent. */
export type CommandFilter = (command: readonly string[]) => boolean;

/** The two sides of a connection on which a copy is under way. */
export interface LateConnection {
  /** Ends the client's side alone. */
  abandon(): void;
  /** Writes to the server; resolves to what it answers, one for each frame. */
  send(frames: readonly RespFrame[]): Promise<readonly RespFrame[]>;
  /** Ends both sides. */
  cut(): void;
}

/**
 * What a client has sent on a connection that it gives up, and that reaches the server only after that: TCP goes on sending
 * what was written to a socket, and the client has sent it again meanwhile.
 */
export class LateCopy {
  private readonly frames: RespFrame[] = [];
  private connection?: LateConnection;

  /** @param isReplay the command is delivered at once too, and the copy is a second one */
  constructor(
    private readonly isMeant: CommandFilter,
    private readonly isReplay: boolean,
  ) {}

  /** How many commands there are. */
  get count(): number {
    return this.frames.length;
  }

  /** Their names and arguments. */
  get commands(): readonly (readonly string[])[] {
    return this.frames.map(({ value }) => value as readonly string[]);
  }

  /** The connection breaks for the client: it connects anew, and sends again what it has no answer to. */
  giveUp(): void {
    this.bound.abandon();
  }

  /** The copy arrives; resolves, when the server has answered each of the commands, to these answers. */
  async deliver(): Promise<readonly RespValue[]> {
    this.giveUp();
    try {
      const replies = await this.bound.send(this.frames);
      return replies.map(({ value }) => value);
    } finally {
      this.bound.cut();
    }
  }

  /** Is it this connection's, because of this command? Only the first one that is meant counts. */
  claims(command: readonly string[], connection: LateConnection): boolean {
    if (this.connection || !this.isMeant(command)) return false;
    this.connection = connection;
    return true;
  }

  /** Takes what the client has sent on its connection; returns whether the server gets it now. */
  take(frame: RespFrame): boolean {
    const isKept = !this.isReplay || this.count === 0;
    if (isKept) this.frames.push(frame);
    return this.isReplay;
  }

  private get bound(): LateConnection {
    if (this.connection) return this.connection;
    throw new Error('No command that is meant was sent.');
  }
}

/** Replies that are being lost. */
export interface LostReplies {
  /** How many were lost so far. */
  readonly lost: number;
  /** From now on they arrive. */
  stop(): void;
}

/**
 * A TCP proxy on loopback in front of a Redis server, for faults of the network between them.
 *
 * Nodes of a cluster and sentinels give their clients the addresses of servers; to lead those through proxies, give the
 * client a `natMap`.
 */
export class RedisProxy extends TcpProxy<RedisProxiedConnection> {
  readonly host = '127.0.0.1';
  private readonly seen: (readonly string[])[] = [];
  private readonly losses = new Set<{ isMeant: CommandFilter; lost: number }>();
  private readonly copies: LateCopy[] = [];
  protected readonly faults: RedisFaults = {
    holdRequests: false,
    holdReplies: false,
    loss: (command) => this.lossOf(command),
    late: (command, connection) => this.copies.find((copy) => copy.claims(command, connection)),
  };

  /** Starts a proxy on a free port. */
  static start(target: { readonly host: string; readonly port: number }): Promise<RedisProxy> {
    return startedOnFreePorts(
      async () => new RedisProxy(target, (await freePorts(1, '127.0.0.1'))[0]!),
      ({ listener, port, host }) => once(listener.listen(port, host), 'listening'),
    );
  }

  /** What clients sent since it started, in the order in which it came here: names and arguments. */
  get commands(): readonly (readonly string[])[] {
    return this.seen;
  }

  /**
   * Loses the replies to such commands until stopped: the server carries the command out, and when it answers, the
   * connection is cut instead. What the client sent behind the command on that connection does not reach the server.
   *
   * @param isMeant asked once for each command, when it comes here
   */
  loseReply(isMeant: CommandFilter): LostReplies {
    const loss = { isMeant, lost: 0 };
    this.losses.add(loss);
    return {
      get lost() {
        return loss.lost;
      },
      stop: () => void this.losses.delete(loss),
    };
  }

  /**
   * From the first such command on, what the client sends on that connection does not reach the server before the copy is
   * delivered. Its connection stays open until it is given up; other ones, new ones too, are not affected.
   */
  strand(isMeant: CommandFilter): LateCopy {
    return this.copy(new LateCopy(isMeant, false));
  }

  /** The first such command is carried out and answered, and carried out once more when the copy is delivered. */
  replay(isMeant: CommandFilter): LateCopy {
    return this.copy(new LateCopy(isMeant, true));
  }

  /** As `release`. */
  resume(): void {
    this.release();
  }

  /** Ends the connections on which such a command was sent, or all; what is held on them is lost. New ones are welcome. */
  cut(isMeant?: CommandFilter): void {
    for (const connection of this.connections) {
      if (!isMeant || connection.commands.some(isMeant)) connection.cut();
    }
  }

  /** Ends all connections and refuses new ones. Idempotent. */
  async stop(): Promise<void> {
    const closed = this.listener.listening && once(this.listener, 'close');
    this.listener.close();
    this.cut();
    await closed;
  }

  private copy(copy: LateCopy): LateCopy {
    this.copies.push(copy);
    return copy;
  }

  private lossOf(command: readonly string[]): (() => void) | undefined {
    const loss = [...this.losses].find(({ isMeant }) => isMeant(command));
    return loss && (() => void loss.lost++);
  }

  protected connection(client: Socket, server: Socket): RedisProxiedConnection {
    return new RedisProxiedConnection(client, server, this.faults, (command) =>
      this.seen.push(command),
    );
  }
}

interface RedisFaults extends Faults {
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
class RedisProxiedConnection extends ProxiedConnection implements LateConnection {
  /** What the client sent. */
  readonly commands: (readonly string[])[] = [];
  private readonly unanswered: Unanswered[] = [];
  private hasSubscribed = false;
  private isDoomed = false;
  private late?: LateCopy;

  constructor(
    client: Socket,
    server: Socket,
    private readonly faults: RedisFaults,
    private readonly onCommand: (command: readonly string[]) => void,
  ) {
    super(client, server, faults);
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
