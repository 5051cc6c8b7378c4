import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../../lib/core/clock.js';
import { LockEventEmitter } from '../../../lib/core/internal/lock-event-emitter.js';
import type { LockClient } from '../../../lib/core/lock-client.js';
import { EmbeddedServer } from '../../../lib/embedded/embedded-server.js';
import { embeddedServers, EmbeddedTransport } from '../../../lib/embedded/embedded-transport.js';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';
import { NativeTransport } from '../../../lib/zookeeper/connection/native-transport.js';
import { RetryForever } from '../../../lib/zookeeper/connection/retry-policies.js';
import { ServerList, type Servers } from '../../../lib/zookeeper/connection/server-list.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import type { Transport } from '../../../lib/zookeeper/connection/transport.js';
import { ZooKeeperLockClient } from '../../../lib/zookeeper/zookeeper-lock-client.js';
import { RedisServer } from '../../support/redis-server.js';
import { ZooKeeperServer } from '../../support/zookeeper-server.js';

/** What the servers have done so far. Both are counts, so that the load of the machine makes no difference. */
export interface Counts {
  readonly requests: number;
  /** What a request may hide: commands inside of scripts, names in listings. */
  readonly work: number;
}

/** A backend with a server of its own. */
export interface ScaleBackend {
  readonly name: 'embedded' | 'redis' | 'zookeeper';
  /** Unit of `Counts.work`. */
  readonly unit: string;
  /** Another client, connected. */
  client(): Promise<LockClient>;
  counts(): Promise<Counts>;
  /** Cuts all connections. Not on `embedded`, which has none. */
  cut?(): Promise<void>;
  stop(): Promise<void>;
}

/** Resolves when a server has had next to nothing to do for three looks in a row. */
export async function untilQuiet({ counts }: ScaleBackend): Promise<void> {
  let seen = (await counts()).requests;
  for (let quiet = 0; quiet < 3;) {
    await delay(50);
    const { requests } = await counts();
    quiet = requests - seen <= 10 ? quiet + 1 : 0;
    seen = requests;
  }
}

export const scaleBackends = {
  embedded: async (): Promise<ScaleBackend> => {
    const server = new EmbeddedServer();
    const counts = new TreeCounts();
    return {
      name: 'embedded',
      unit: 'requests and names listed',
      client: () =>
        connected(onTree(new EmbeddedTransport(server), counts, embeddedServers, Infinity)),
      counts: async () => counts.current,
      stop: async () => {},
    };
  },

  zookeeper: async (): Promise<ScaleBackend> => {
    const server = await ZooKeeperServer.start({
      tickTime: 2_000,
      containerCheckIntervalMs: 3_600_000,
      jvmArgs: ['-Xmx1000m'], // ZooKeeper's default
    });
    const counts = new TreeCounts();
    const servers = new ServerList([server], Math.random, systemClock);
    return {
      name: 'zookeeper',
      unit: 'requests and names listed',
      client: async () =>
        connected(onTree(await NativeTransport.load('scale'), counts, servers, 30_000)),
      counts: async () => counts.current,
      cut: () => server.restart(), // sessions and nodes outlive it
      stop: () => server.stop(),
    };
  },

  redis: async (): Promise<ScaleBackend> => {
    const server = await RedisServer.start();
    const connect = server.url;
    return {
      name: 'redis',
      unit: 'commands, also in scripts',
      client: async () => connected(await createRedisLockClient('scale', { connect })),
      counts: async () => redisCounts(String(await server.command('INFO', 'commandstats'))),
      cut: async () => {
        for (const type of ['normal', 'pubsub'])
          await server.command('CLIENT', 'KILL', 'TYPE', type);
      },
      stop: () => server.stop(),
    };
  },
};

async function connected<C extends LockClient>(client: C): Promise<C> {
  await client.connect();
  return client;
}

/** What recipes have asked a tree, of a server or in this process; without what keeps the connection up. */
class TreeCounts {
  requests = 0;
  /** Number of names in the answers. */
  listed = 0;

  get current(): Counts {
    return { requests: this.requests, work: this.requests + this.listed };
  }

  of(transport: Transport): Transport {
    const open: Transport['open'] = (options, listener) => {
      const link = transport.open(options, listener);
      return {
        request: (request, reply) => {
          if (request.path !== '/') this.requests += 1;
          link.request(request, (rc, answer) => {
            if (Array.isArray(answer)) this.listed += answer.length;
            reply(rc, answer);
          });
        },
        detach: (session) => link.detach(session),
        close: () => link.close(),
      };
    };
    return { open, close: () => transport.close() };
  }
}

function onTree(
  transport: Transport,
  counts: TreeCounts,
  servers: Servers,
  sessionTimeout: number,
): LockClient {
  return new ZooKeeperLockClient({
    name: 'scale',
    connection: new SessionConnection({
      transport: counts.of(transport),
      servers,
      sessionTimeout,
      clock: systemClock,
    }),
    events: new LockEventEmitter(),
    clock: systemClock,
    basePath: '/locks',
    connectTimeout: 15_000,
    wait: 'forever',
    retryPolicy: new RetryForever(50),
  });
}

/** Commands that the library sends, others than those of a new connection. */
const REQUESTS = /^(evalsha|eval|s?subscribe|s?unsubscribe)$/;
const OF_CONNECTIONS = /^(auth|client|command|hello|info|ping|script|select)/;

function redisCounts(stats: string): Counts {
  const calls = [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)];
  const sum = (isMeant: (command: string) => boolean) =>
    calls.reduce((all, [, command = '', count]) => all + (isMeant(command) ? Number(count) : 0), 0);
  return {
    requests: sum((command) => REQUESTS.test(command)),
    work: sum((command) => !OF_CONNECTIONS.test(command)),
  };
}
