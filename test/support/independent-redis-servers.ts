import { RedisServer } from './redis-server.js';

/** Redis servers that know nothing of each other. */
export class IndependentRedisServers {
  private constructor(readonly all: readonly RedisServer[]) {}

  /** Starts so many on free ports; resolves when they answer. */
  static async start(count: number): Promise<IndependentRedisServers> {
    const starting = Array.from({ length: count }, () => RedisServer.start());
    const outcomes = await Promise.allSettled(starting);
    const all = outcomes.flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []));
    const servers = new IndependentRedisServers(all);
    const failed = outcomes.find((it) => it.status === 'rejected');
    if (failed === undefined) return servers;
    await servers.stop();
    throw failed.reason;
  }

  /** What `nodes` takes; they are tried again soon after they were down. */
  get nodes(): object[] {
    return this.all.map(({ host, port }) => nodeOf(host, port));
  }

  /** Those that run. */
  get running(): readonly RedisServer[] {
    return this.all.filter(({ running }) => running);
  }

  /** Kills those with these numbers, from 0. */
  async kill(...numbers: readonly number[]): Promise<void> {
    await Promise.all(numbers.map((i) => this.all[i]!.kill()));
  }

  /** Starts, without data, those that do not run. */
  async restore(): Promise<void> {
    for (const server of this.all) server.thaw();
    const down = this.all.filter(({ running }) => !running);
    await Promise.all(down.map((server) => server.restart()));
  }

  /** What each that runs answers; in their order. */
  async commands(name: string, ...args: (string | number)[]): Promise<unknown[]> {
    return Promise.all(this.running.map((server) => server.command(name, ...args)));
  }

  /** How many of those that run have that key. */
  async having(key: string): Promise<number> {
    const answers = (await this.commands('EXISTS', key)) as number[];
    return answers.reduce((sum, answer) => sum + answer, 0);
  }

  async stop(): Promise<void> {
    await Promise.all(this.all.map((server) => server.stop()));
  }
}

function nodeOf(host: string, port: number): object {
  return { host, port, disconnectTimeout: 0, retryStrategy: () => 50 };
}
