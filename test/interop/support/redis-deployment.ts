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

/** The commands that servers of this machine execute, including those inside scripts, in their order. */
export class CommandLog {
  /** As `MONITOR` prints them: `+1339518083.107412 [0 127.0.0.1:60866] "publish" "channel" "0"`. */
  private readonly lines: string[] = [];
  private readonly sockets: Socket[] = [];

  private constructor(private readonly servers: readonly RedisServer[]) {}

  static async open(...servers: RedisServer[]): Promise<CommandLog> {
    const log = new CommandLog(servers);
    await Promise.all(servers.map((server) => log.monitor(server)));
    return log;
  }

  /** The commands executed until now that contain `part`, as `MONITOR` prints them. */
  async commands(part: string): Promise<string[]> {
    await this.catchUp();
    return this.lines.filter((line) => line.includes(part));
  }

  /** Whether a client has subscribed to a channel with that prefix, and asked for a lock with `name` in its own after that. */
  async hasAskedAfterSubscribing(channel: string, name: string): Promise<boolean> {
    await this.catchUp();
    const subscription = this.lines.findLastIndex(
      (line) => /"s?subscribe" /i.test(line) && line.includes(`"${channel}`),
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
    for (const socket of this.sockets) socket.destroy();
  }

  private async monitor({ host, port }: RedisServer): Promise<void> {
    // By hand: ioredis rejects when a command comes in the same packet as the reply to MONITOR.
    const socket = connect(port, host);
    this.sockets.push(socket);
    await once(socket, 'connect');
    socket.on('error', () => {}); // it has ended: the awaited reply does not come
    const output = createInterface({ input: socket });
    output.on('line', (line) => this.lines.push(line));
    const begun = once(output, 'line');
    socket.write('MONITOR\r\n');
    await begun;
  }

  /** A server reports its commands in their order: so everything before this one is known then. */
  private async catchUp(): Promise<void> {
    const mark = randomUUID();
    await Promise.all(this.servers.map((server) => server.command('ECHO', mark)));
    const marks = () => this.lines.filter((line) => line.includes(mark));
    await eventually('the mark was seen', () => marks().length === this.servers.length);
    const time = (line: string) => line.split(' ', 1)[0]!;
    this.lines.sort((one, other) => time(one).localeCompare(time(other)));
  }
}
