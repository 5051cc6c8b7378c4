import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis as IoRedis, type Redis, type RedisOptions } from 'ioredis';
import type { RedisClient } from '../../lib/redis/connection/ioredis.js';
import { freePorts, startedOnFreePorts, TestServer, WatchedProcess } from './processes.js';
import { Redis as UsersRedis } from './redis-client.js';
import { eventually } from './time.js';

/** What a test server is set to. */
export interface RedisServerOptions {
  /** Loopback port to listen on. Default: a free one. */
  port?: number;
  /**
   * Further lines of `redis.conf`, which win over those of {@link redisConfig}: `{ maxmemory: '10mb' }`. A directive that
   * is there several times for different things is named with them: `{ 'sentinel monitor mymaster': '127.0.0.1 7000 2' }`.
   */
  config?: Readonly<Record<string, string>>;
  /** What is in its folder before it starts for the first time: text by file name. */
  files?: Readonly<Record<string, string>>;
  /** Whether it is a sentinel, which watches over other servers, and holds no data. Default false. */
  sentinel?: boolean;
}

/** The text of `redis.conf`: on loopback, nothing kept over a restart, replicas fed at once. */
export function redisConfig(
  folder: string,
  host: string,
  port: number,
  options: RedisServerOptions,
): string {
  const settings = {
    bind: host,
    port: `${port}`,
    dir: folder,
    save: '',
    appendonly: 'no',
    'rdb-del-sync-files': 'yes', // else a replica finds its last copy when it starts again
    'repl-diskless-sync-delay': '0',
    ...options.config,
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name} ${value || '""'}\n`)
    .join('');
}

/** A server's part in the replication. */
export type RedisRole = RedisMasterRole | RedisReplicaRole;

interface RedisMasterRole {
  readonly name: 'master';
  /** How much it has written to its replicas since ever, in bytes. */
  readonly offset: number;
  /** How many replicas are linked to it. */
  readonly replicas: number;
}

interface RedisReplicaRole {
  readonly name: 'replica';
  /** How much it has read of that, in bytes. */
  readonly offset: number;
  /** The port of its master. */
  readonly master: number;
  /** Whether it has a copy of its master's data and hears every change. */
  readonly isLinked: boolean;
}

/** Reads the answer to `ROLE`. */
export function parseRole(answer: unknown): RedisRole {
  const [name, ...rest] = answer as [string, ...unknown[]];
  if (name === 'master') {
    const [offset, replicas] = rest as [number, unknown[]];
    return { name, offset, replicas: replicas.length };
  }
  const [, master, state, offset] = rest as [string, number, string, number];
  return { name: 'replica', offset, master, isLinked: state === 'connected' };
}

/** The version of the server that the tests run on: `[7, 0, 15]`. */
function redisVersion(): number[] {
  const program = process.env.REDIS_SERVER || 'redis-server';
  const [, version = ''] =
    /v=([\d.]+)/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' })) ?? [];
  return version.split('.').map(Number);
}

let known: number[] | undefined;

/** Do the tests run on a server of that version, such as `7.0`, or a newer one? */
export function sinceRedis(version: `${number}`): boolean {
  known ??= redisVersion();
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [ours = 0, oursMinor = 0] = known;
  return ours > major || (ours === major && oursMinor >= minor);
}

type Argument = string | number | Buffer;

/** `PEXPIRETIME`, for which time stands still in a script. */
const EXPIRY = `local left = redis.call('pttl', KEYS[1])
if left < 0 then return left end
local time = redis.call('time')
return time[1] * 1000 + math.floor(time[2] / 1000) + left`;

/**
 * A command that a test asks a server for, so that Redis 6.2 understands it too: what the tests look at is younger in places
 * than what the library needs.
 */
export function forThisRedis(name: string, args: readonly Argument[]): [string, ...Argument[]] {
  if (sinceRedis('7.0')) return [name, ...args];
  const [first] = args;
  switch (name.toUpperCase()) {
    case 'PEXPIRETIME':
      return ['EVAL', EXPIRY, 1, first!];
    case 'PEXPIRE': // without LT and the like
      return [name, ...args.slice(0, 2)];
    case 'PUBSUB': // there are no sharded channels
      return [name, String(first).replace(/^shard/i, ''), ...args.slice(1)];
    default:
      return [name, ...args];
  }
}

const HOST = '127.0.0.1';
const LOG_TAIL = 20; // lines

/** Else a client that is disconnected while it has no connection keeps the process alive for two seconds. */
const AT_ONCE = { disconnectTimeout: 0 };

/** A real Redis server on a loopback port, with what it writes in a temporary folder. */
export class RedisServer extends TestServer {
  readonly host = HOST;
  private readonly clients: Redis[] = [];

  /** A server that does not run yet; `restart()` starts it. */
  constructor(
    readonly port: number,
    private readonly options: RedisServerOptions = {},
  ) {
    super('redis');
    for (const [name, text] of Object.entries(options.files ?? {})) {
      writeFileSync(join(this.folder, name), text);
    }
  }

  /** Starts a server, on a free port unless one is given; resolves when it answers. */
  static start(options: RedisServerOptions = {}): Promise<RedisServer> {
    return startedOnFreePorts(
      async () => new RedisServer(options.port ?? (await freePorts(1, HOST))[0]!, options),
      (server) => server.restart(),
      options.port ? 1 : undefined,
    );
  }

  /** `redis://host:port` */
  get url(): string {
    return `redis://${this.host}:${this.port}`;
  }

  /** A client of it, as users have one; `stop()` disconnects it. */
  client(options: RedisOptions = {}): Redis {
    const client = new UsersRedis({ host: this.host, port: this.port, ...AT_ONCE, ...options });
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
    const client = new IoRedis({
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

  /** Ends it for good, frozen or not, disconnects its clients and removes its folder. */
  override async stop(): Promise<void> {
    for (const client of this.clients) client.disconnect();
    await super.stop();
  }

  /** Is it a server that was started with this file, and not another one on the same port? */
  private async answersWith(config: string): Promise<boolean> {
    await this.command('PING'); // rejects while it loads data
    return String(await this.command('INFO', 'server')).includes(`config_file:${config}\r\n`);
  }
}

/**
 * An ioredis client to be handed over to a lock client, which then sends its commands through that very client instead of a
 * duplicate: so a test sees them, and may end the connection.
 */
export function asOwn<T extends RedisClient>(client: T): T {
  return new Proxy(client, {
    get(target, name) {
      if (name === 'duplicate') return () => target;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/** What copies of commands that arrive late are known by; each such key ends by itself. */
export const FOR_LATE_COPIES = /^interlock_(requests|gone|extended):/;

/** What may be left of locks that are free: counters of fencing tokens, and what late copies are known by. */
export const KEPT =
  /^(redisson_lock_token|interlock_(requests|gone|extended)|nestjs-interlock:deadlocks:processes):/;

/** Returns a replica of the master that has all that was written to it before. */
export async function replicated(
  master: RedisServer,
  servers: readonly RedisServer[],
): Promise<RedisServer> {
  const { offset } = await master.role();
  const hasAll = async (server: RedisServer) => {
    const role = await server.role();
    return (
      role.name === 'replica' &&
      role.master === master.port &&
      role.isLinked &&
      role.offset >= offset
    );
  };
  return eventually('a replica has all that its master has', async () => {
    for (const server of servers) if (server.running && (await hasAll(server))) return server;
    return undefined;
  });
}

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
