import { Redis, type RedisOptions } from 'ioredis';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.js';
import { freePorts } from './free-ports.js';
import { redisConfig, type RedisServerOptions } from './redis-config.js';
import { parseRole, type RedisRole } from './redis-role.js';
import { forThisRedis } from './since-redis-7.js';
import { WatchedProcess } from './watched-process.js';

const HOST = '127.0.0.1';
const START_ATTEMPTS = 5;
const LOG_TAIL = 20; // lines

/** Else a client that is disconnected while it has no connection keeps the process alive for two seconds. */
const AT_ONCE = { disconnectTimeout: 0 };

/** A real Redis server on a loopback port, with what it writes in a temporary folder. */
export class RedisServer {
  readonly host = HOST;
  private readonly folder = mkdtempSync(join(tmpdir(), 'redis-'));
  private readonly clients: Redis[] = [];
  private process: WatchedProcess | undefined;

  /** A server that does not run yet; `restart()` starts it. */
  constructor(
    readonly port: number,
    private readonly options: RedisServerOptions = {},
  ) {
    for (const [name, text] of Object.entries(options.files ?? {})) {
      writeFileSync(join(this.folder, name), text);
    }
  }

  /** Starts a server, on a free port unless one is given; resolves when it answers. */
  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    for (let attempt = 1; ; attempt++) {
      const port = options.port ?? (await freePorts(1, HOST))[0]!;
      const server = new RedisServer(port, options);
      try {
        await server.restart();
        return server;
      } catch (error) {
        await server.stop();
        if (options.port || attempt === START_ATTEMPTS) throw error; // else another process may have won the port
      }
    }
  }

  /** `redis://host:port` */
  get url(): string {
    return `redis://${this.host}:${this.port}`;
  }

  /** Whether its process exists, frozen or not. */
  get running(): boolean {
    return this.process?.running ?? false;
  }

  /** A client of it, as users have one; `stop()` disconnects it. */
  client(options: RedisOptions = {}): Redis {
    const client = new Redis({ host: this.host, port: this.port, ...AT_ONCE, ...options });
    client.on('error', () => {}); // commands report it; without a listener each one is printed
    this.clients.push(client);
    return client;
  }

  /**
   * Sends a command on a connection of its own, on which nothing else is sent.
   *
   * @returns the reply as RESP2 has it
   * @throws the server's error; or when it does not run, or does not answer within 10 s
   */
  async command(name: string, ...args: (string | number | Buffer)[]): Promise<unknown> {
    const client = new Redis({
      host: this.host,
      port: this.port,
      protocol: 2,
      enableReadyCheck: false,
      disableClientInfo: true,
      commandTimeout: 10_000,
      ...AT_ONCE,
      retryStrategy: null,
      maxRetriesPerRequest: 0,
    });
    let fault: unknown;
    client.on('error', (error) => (fault = error));
    try {
      return await client.call(...forThisRedis(name, args));
    } catch (error) {
      throw fault ?? error; // why there is no connection says more than that there is none
    } finally {
      client.disconnect();
    }
  }

  /** Its part in the replication now. */
  async role(): Promise<RedisRole> {
    return parseRole(await this.command('ROLE'));
  }

  /** Starts it again on the same port, without data, after a kill if it still runs; resolves when it answers. */
  async restart(): Promise<void> {
    await this.kill();
    const config = join(this.folder, 'redis.conf');
    writeFileSync(config, redisConfig(this.folder, this.host, this.port, this.options));

    const args = [config, ...(this.options.sentinel ? ['--sentinel'] : [])];
    const program = process.env.REDIS_SERVER || 'redis-server';
    const server = (this.process = new WatchedProcess(program, args, this.folder));
    const outcome = await eventually('it answers', async () =>
      server.running ? (await this.answersWith(config)) && 'answered' : 'it ended',
    ).catch(String);
    if (outcome === 'answered') return;
    throw new Error(
      `Redis on ${this.url} did not start: ${outcome}\n` +
        `${server.log.split('\n').slice(-LOG_TAIL).join('\n')}\n` +
        'If Redis is missing, run `bash test/support/install.sh`, or set REDIS_SERVER to the path of redis-server.',
    );
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    await this.process?.kill();
  }

  /** SIGSTOP: it keeps its connections and answers nothing. */
  freeze(): void {
    this.process?.freeze();
  }

  /** SIGCONT: it goes on where it was. */
  thaw(): void {
    this.process?.thaw();
  }

  /** Ends it for good, frozen or not, disconnects its clients and removes its folder. */
  async stop(): Promise<void> {
    for (const client of this.clients) client.disconnect();
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Is it a server that was started with this file, and not another one on the same port? */
  private async answersWith(config: string): Promise<boolean> {
    await this.command('PING'); // rejects while it loads data
    return String(await this.command('INFO', 'server')).includes(`config_file:${config}\r\n`);
  }
}
