import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { eventually } from '../../support/eventually.js';
import type { RedisServer } from '../../support/redis-server.js';

/** The commands that a server executes, including those inside scripts. */
export class CommandLog {
  /** As `MONITOR` prints them: `+1339518083.107412 [0 127.0.0.1:60866] "publish" "channel" "0"`. */
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
    socket.on('error', () => {}); // it has ended: the awaited reply does not come
    socket.write('MONITOR\r\n');
    const log = new CommandLog(server, socket);
    await eventually('the log begins', () => log.lines.includes('+OK'));
    return log;
  }

  /** The commands executed until now that contain `part`, as `MONITOR` prints them. */
  async commands(part: string): Promise<string[]> {
    await this.catchUp();
    return this.lines.filter((line) => line.includes(part));
  }

  /** Whether a client has subscribed to a channel with that prefix, and asked for a lock with `name` in its own after that. */
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

  /** The server reports its commands in their order: so everything before this one is known then. */
  private async catchUp(): Promise<void> {
    const mark = randomUUID();
    await this.server.command('ECHO', mark);
    await eventually('the mark was seen', () => this.lines.some((line) => line.includes(mark)));
  }
}
