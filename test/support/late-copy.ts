import type { RespFrame, RespValue } from './resp-splitter.js';

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
