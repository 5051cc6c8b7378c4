import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { eventually } from '../../support/time.js';
import { RedisCluster } from '../../support/redis-cluster.js';
import { RedisServer } from '../../support/redis-server.js';

/** The ways in which Redis is deployed here. */
export const REDIS_DEPLOYMENTS = ['standalone', 'cluster'] as const;

export type RedisDeploymentKind = (typeof REDIS_DEPLOYMENTS)[number];

/** The Redis that peers share. */
export interface RedisDeployment {
  readonly kind: RedisDeploymentKind;
  /** URL of the one server, or of several nodes of the cluster. */
  readonly urls: readonly string[];
  /** The servers that own keys. */
  masters(): Promise<readonly RedisServer[]>;
  /** The server that owns that key, and the sharded channels of its slot. */
  masterOf(key: string): Promise<RedisServer>;
  stop(): Promise<void>;
}

/** Starts the servers; resolves when they are ready. */
export function startRedisDeployment(kind: RedisDeploymentKind): Promise<RedisDeployment> {
  return kind === 'standalone' ? startStandalone() : startCluster();
}

async function startStandalone(): Promise<RedisDeployment> {
  const server = await RedisServer.start();
  return {
    kind: 'standalone',
    urls: [server.url],
    masters: async () => [server],
    masterOf: async () => server,
    stop: () => server.stop(),
  };
}

async function startCluster(): Promise<RedisDeployment> {
  const cluster = await RedisCluster.start();
  return {
    kind: 'cluster',
    urls: cluster.servers.map(({ url }) => url),
    masters: async () => {
      const roles = await Promise.all(cluster.servers.map((server) => server.command('ROLE')));
      return cluster.servers.filter((_, n) => (roles[n] as string[])[0] === 'master');
    },
    masterOf: (key) => cluster.masterOf(key),
    stop: () => cluster.stop(),
  };
}

/** The keys and channels of the lock, semaphore or latch of that name, as Redisson calls them. */
export function redisNames(name: string) {
  const tagged = name.includes('{') ? name : `{${name}}`;
  return {
    /** Of a lock, a fair lock's holder, or a read/write lock. */
    hash: name,
    token: `redisson_lock_token:${tagged}`,
    /** The waiters of a fair lock, in order, and their deadlines. */
    queue: `redisson_lock_queue:${tagged}`,
    timeouts: `redisson_lock_timeout:${tagged}`,
    /** Ids of the held permits, and when they expire. */
    permitTimeouts: `${tagged}:timeout`,
    /** Exists as long as the `n`th hold of a reader. */
    readHold: (holder: string, n: number) => `${tagged}:${holder}:rwlock_timeout:${n}`,

    channel: `redisson_lock__channel:${tagged}`,
    /** Channel of a waiter for a fair lock. */
    waiterChannel: (holder: string) => `redisson_lock__channel:${tagged}:${holder}`,
    semaphoreChannel: `redisson_sc:${tagged}`,
    latchChannel: `redisson_countdownlatch__channel__{${name}}`,
    readWriteChannel: `redisson_rwlock:${tagged}`,
  };
}

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
