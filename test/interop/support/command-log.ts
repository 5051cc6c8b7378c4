import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { eventually } from '../../support/eventually.js';
import type { RedisServer } from '../../support/redis-server.js';

/** The commands that a server carries out, those inside of scripts included. */
export class CommandLog {
  /** As `MONITOR` tells them: `+1339518083.107412 [0 127.0.0.1:60866] "publish" "channel" "0"`. */
  private readonly lines: string[] = [];

  private constructor(
    private readonly server: RedisServer,
    private readonly socket: Socket,
  ) {
    createInterface({ input: socket }).on('line', (line) => this.lines.push(line));
  }

  static async open(server: RedisServer): Promise<CommandLog> {
    // By hand: ioredis rejects when a command comes in the same packet as the reply to MONITOR.
    const socket = connect(server.port, server.host);
    await once(socket, 'connect');
    socket.on('error', () => {}); // it has ended: what is waited for does not come
    socket.write('MONITOR\r\n');
    const log = new CommandLog(server, socket);
    await eventually('the log begins', () => log.lines.includes('+OK'));
    return log;
  }

  /** The commands carried out until now that have `part` in theirs, as `MONITOR` tells them. */
  async commands(part: string): Promise<string[]> {
    await this.catchUp();
    return this.lines.filter((line) => line.includes(part));
  }

  /** Has somebody subscribed to a channel that begins so, and asked for a lock with `name` in its own after that? */
  hasAskedAfterSubscribing(channel: string, name: string): boolean {
    const subscription = this.lines.findLastIndex(
      (line) => /subscribe" /i.test(line) && line.includes(`"${channel}`),
    );
    const asks = (line: string) => /\] "(eval(sha)?|get)" /i.test(line) && line.includes(name);
    return subscription >= 0 && this.lines.slice(subscription).some(asks);
  }

  /** What was published until now on channels with `name` in theirs: `PUBLISH channel message`. */
  async published(name: string): Promise<string[]> {
    await this.catchUp();
    return this.lines
      .map((line) => /\] "(s?publish)" "(\S*)" "(\S*)"$/i.exec(line))
      .filter((words) => words?.[2]!.includes(name))
      .map((words) => `${words![1]!.toUpperCase()} ${words![2]} ${words![3]}`);
  }

  close(): void {
    this.socket.destroy();
  }

  /** The server tells of its commands in their order: so whatever came before this one is known then. */
  private async catchUp(): Promise<void> {
    const mark = randomUUID();
    await this.server.command('ECHO', mark);
    await eventually('the mark was seen', () => this.lines.some((line) => line.includes(mark)));
  }
}
