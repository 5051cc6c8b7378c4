import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePorts } from './free-ports.js';
import { LateCopy, type CommandFilter } from './late-copy.js';
import { RedisProxiedConnection, type RedisFaults } from './redis-proxied-connection.js';

const START_ATTEMPTS = 5;

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
export class RedisProxy {
  readonly host = '127.0.0.1';
  private readonly connections = new Set<RedisProxiedConnection>();
  private readonly seen: (readonly string[])[] = [];
  private readonly losses = new Set<{ isMeant: CommandFilter; lost: number }>();
  private readonly copies: LateCopy[] = [];
  private readonly faults: RedisFaults = {
    areRequestsHeld: false,
    areRepliesHeld: false,
    loss: (command) => this.lossOf(command),
    late: (command, connection) => this.copies.find((copy) => copy.claims(command, connection)),
  };
  private readonly listener: Server;

  private constructor(
    private readonly target: { readonly host: string; readonly port: number },
    readonly port: number,
  ) {
    this.listener = createServer((client) => this.onConnection(client));
  }

  /** Starts a proxy on a free port. The server need not run yet. */
  static async start(target: {
    readonly host: string;
    readonly port: number;
  }): Promise<RedisProxy> {
    for (let attempt = 1; ; attempt++) {
      const [port] = await freePorts(1, '127.0.0.1');
      const proxy = new RedisProxy(target, port!);
      proxy.listener.listen(proxy.port, proxy.host);
      try {
        await once(proxy.listener, 'listening');
        return proxy;
      } catch (error) {
        if (attempt === START_ATTEMPTS) throw error; // else another process won the port
      }
    }
  }

  /** What clients sent since it started, in the order in which it came here: names and arguments. */
  get commands(): readonly (readonly string[])[] {
    return this.seen;
  }

  /** How many connections are open now. */
  get open(): number {
    return [...this.connections].filter((connection) => !connection.closed).length;
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

  /** A black hole: connections stay open, also new ones, but nothing arrives in either direction. */
  hold(): void {
    this.faults.areRequestsHeld = true;
    this.faults.areRepliesHeld = true;
  }

  /** The server gets what is sent, but nothing arrives from it. */
  holdReplies(): void {
    this.faults.areRepliesHeld = true;
  }

  /** Ends `hold` and `holdReplies`: everything kept arrives now, in order. */
  resume(): void {
    this.faults.areRequestsHeld = false;
    this.faults.areRepliesHeld = false;
    for (const connection of this.connections) connection.deliver();
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

  private onConnection(client: Socket): void {
    const server = connect(this.target.port, this.target.host);
    const connection = new RedisProxiedConnection(client, server, this.faults, (command) =>
      this.seen.push(command),
    );
    const forget = () => connection.closed && this.connections.delete(connection);
    client.on('close', forget);
    server.on('close', forget);
    this.connections.add(connection);
  }
}
