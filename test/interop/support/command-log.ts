import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { eventually } from '../../support/eventually.js';
import type { RedisServer } from '../../support/redis-server.js';

/** The commands that a server carries out, those inside of scripts included. */
export class CommandLog {
  private readonly commands: string[][] = [];

  private constructor(
    private readonly server: RedisServer,
    private readonly monitor: Redis,
  ) {
    monitor.on('monitor', (_time: string, command: string[]) => this.commands.push(command));
  }

  static async open(server: RedisServer): Promise<CommandLog> {
    const client = server.client();
    const monitor = await client.monitor();
    client.disconnect();
    return new CommandLog(server, monitor);
  }

  /** What was published until now on channels with `name` in theirs: `PUBLISH channel message`. */
  async published(name: string): Promise<string[]> {
    await this.catchUp();
    return this.commands
      .map(([command, ...args]) => [command!.toUpperCase(), ...args])
      .filter(([command, channel]) => command!.endsWith('PUBLISH') && channel!.includes(name))
      .map((words) => words.join(' '));
  }

  close(): void {
    this.monitor.disconnect();
  }

  /** The server tells it of its commands in their order: so whatever came before this one is known then. */
  private async catchUp(): Promise<void> {
    const mark = randomUUID();
    await this.server.command('ECHO', mark);
    await eventually('the mark was seen', () => this.commands.some((words) => words[1] === mark));
  }
}
