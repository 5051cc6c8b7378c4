import { randomBytes } from 'node:crypto';
import type { Redis, RedisOptions } from 'ioredis';
import { freePorts, startedOnFreePorts } from './processes.js';
import { Redis as UsersRedis } from './redis-client.js';
import { RedisServer, replicated, sinceRedis } from './redis-server.js';
import { eventually } from './time.js';

/** What a sentinel knows of a master and those around it. */
export interface SentinelView {
  /** The port of the master. */
  readonly master: number;
  /** Whether it finds nothing wrong with the master, and nothing is under way. */
  readonly isCalm: boolean;
  /** How many other sentinels it knows. */
  readonly sentinels: number;
  /** How many replicas it knows that work and are linked to their master. */
  readonly replicas: number;
}

/** Asks a sentinel. */
export async function sentinelView(
  sentinel: RedisServer,
  masterName: string,
): Promise<SentinelView> {
  const ask = (what: string) => sentinel.command('SENTINEL', what, masterName);
  const master = recordOf((await ask('MASTER')) as string[]);
  const replicas = ((await ask('REPLICAS')) as string[][]).map(recordOf);
  const linked = replicas.filter(
    (replica) => replica['flags'] === 'slave' && replica['master-link-status'] === 'ok',
  );
  return {
    master: Number(master['port']),
    isCalm: master['flags'] === 'master',
    sentinels: Number(master['num-other-sentinels']),
    replicas: linked.length,
  };
}

/** From names and values in turn. */
function recordOf(pairs: readonly string[]): Record<string, string | undefined> {
  const names = pairs.filter((_, i) => i % 2 === 0);
  return Object.fromEntries(names.map((name, i) => [name, pairs[2 * i + 1]]));
}

const HOST = '127.0.0.1';
const MASTER_NAME = 'mymaster';
const SENTINELS = 3;
const QUORUM = 2;
const START_ATTEMPTS = 3;
const PATIENCE = { within: 25_000, every: 25 };

/** Settings of the sentinels. The default lets a replica take over about three seconds after a kill. */
export interface RedisSentinelOptions {
  /** How long the master may be silent before a sentinel thinks that it is down, in milliseconds. Default 1000. */
  downAfter?: number;
  /** Further lines of the `redis.conf` of both servers. */
  config?: Readonly<Record<string, string>>;
}

/** A real master and its replica, watched over by three sentinels. */
export class RedisSentinel {
  readonly masterName = MASTER_NAME;
  private readonly clients: Redis[] = [];

  private constructor(
    readonly servers: readonly RedisServer[],
    readonly sentinels: readonly RedisServer[],
  ) {}

  /** Starts all on free ports; resolves when the replica is linked, and every sentinel knows it and the others. */
  static start(options: RedisSentinelOptions = {}): Promise<RedisSentinel> {
    return startedOnFreePorts(
      async () => {
        const { servers, sentinels } = await members(options);
        return new RedisSentinel(servers, sentinels);
      },
      (sentinel) => sentinel.restart(),
      START_ATTEMPTS,
    );
  }

  /** A client that asks the sentinels for the master, as users have one; `stop()` disconnects it. */
  client(options: RedisOptions = {}): Redis {
    const client = new UsersRedis({
      sentinels: this.sentinels.map(({ host, port }) => ({ host, port })),
      name: MASTER_NAME,
      disconnectTimeout: 0, // as RedisServer's clients
      ...options,
    });
    client.on('error', () => {}); // commands report it; without a listener each one is printed
    this.clients.push(client);
    return client;
  }

  /** The master, as a sentinel that answers sees it. */
  async master(): Promise<RedisServer> {
    const view = await Promise.any(this.views());
    return this.servers.find(({ port }) => port === view.master)!;
  }

  /** The server that is not the master. */
  async replica(): Promise<RedisServer> {
    const master = await this.master();
    return this.servers.find((server) => server !== master)!;
  }

  /**
   * Kills the master, once its replica has what was written before; resolves when every sentinel knows that the replica
   * has taken over.
   */
  async failOver(): Promise<void> {
    const failed = await this.master();
    const successor = await replicated(failed, this.servers);
    await failed.kill();
    const hasTakenOver = async () =>
      (await successor.role()).name === 'master' &&
      (await Promise.all(this.views())).every(
        ({ master, isCalm }) => master === successor.port && isCalm,
      );
    await eventually('the replica has taken over', hasTakenOver, PATIENCE);
  }

  /** Starts those that were killed; resolves when all is as after the start. A master that was replaced is the replica. */
  async restart(): Promise<void> {
    const killed = [...this.servers, ...this.sentinels].filter((server) => !server.running);
    await Promise.all(killed.map((server) => server.restart()));
    await Promise.all(this.sentinels.map(hasten));
    await eventually(
      'the sentinels know each other and the replica',
      () => this.isComplete(),
      PATIENCE,
    );
  }

  /** Ends all, frozen or not, and disconnects its clients. Idempotent. */
  async stop(): Promise<void> {
    for (const client of this.clients) client.disconnect();
    await Promise.all([...this.servers, ...this.sentinels].map((server) => server.stop()));
  }

  private views(): Promise<SentinelView>[] {
    const running = this.sentinels.filter((sentinel) => sentinel.running);
    return running.map((sentinel) => sentinelView(sentinel, MASTER_NAME));
  }

  private async isComplete(): Promise<boolean> {
    const [master, replica] = [await this.master(), await this.replica()];
    const role = await replica.role();
    return (
      role.name === 'replica' &&
      role.master === master.port &&
      role.isLinked &&
      (await Promise.all(this.views())).every(
        (view) =>
          view.master === master.port &&
          view.isCalm &&
          view.sentinels === SENTINELS - 1 &&
          view.replicas === 1,
      )
    );
  }
}

async function members(
  options: RedisSentinelOptions,
): Promise<Pick<RedisSentinel, 'servers' | 'sentinels'>> {
  const [master, replica, ...ports] = await freePorts(2 + SENTINELS, HOST);
  const servers = [
    new RedisServer(master!, { config: options.config }),
    new RedisServer(replica!, { config: { replicaof: `${HOST} ${master}`, ...options.config } }),
  ];
  const sentinels = ports.map((port) => {
    const config = {
      'sentinel myid': randomBytes(20).toString('hex'), // so that it is the same after a restart
      [`sentinel monitor ${MASTER_NAME}`]: `${HOST} ${master} ${QUORUM}`,
      [`sentinel down-after-milliseconds ${MASTER_NAME}`]: `${options.downAfter ?? 1000}`,
      [`sentinel failover-timeout ${MASTER_NAME}`]: '2000', // after a split vote they wait twice as long
    };
    return new RedisServer(port, { sentinel: true, config });
  });
  return { servers, sentinels };
}

/** Lets a sentinel look around and talk to the others more often than once in two or ten seconds, where it can. */
async function hasten(sentinel: RedisServer): Promise<void> {
  if (!sinceRedis('7.0')) return;
  const periods = ['publish-period', 200, 'info-period', 200, 'ask-period', 200];
  await sentinel.command('SENTINEL', 'DEBUG', ...periods);
}
