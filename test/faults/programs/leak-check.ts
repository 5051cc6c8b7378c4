// Takes, misses and gives up locks by the thousand, or takes locks for a short lease each, which is left to run out, or asks for
// a cut of its connection, again and again, while it holds a lock.
// Says the size of its heap, when that falls no more, after a warm-up and, asked for more, after the work; asked to close, it
// closes and ends.
// Arguments: `native`, `wire`, `embedded`, `redis`, `leases` (on Redis), `native-cuts` or `wire-cuts`, how much work, where the
// server is.
import { once } from 'node:events';
import { systemClock } from '../../../lib/core/clock.js';
import { LockEventEmitter } from '../../../lib/core/internal/lock-event-emitter.js';
import type { Lock } from '../../../lib/core/lock.js';
import { createEmbeddedLockClient } from '../../../lib/embedded/create-embedded-lock-client.js';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { RetryForever } from '../../../lib/zookeeper/connection/retry-policies.js';
import { ServerList } from '../../../lib/zookeeper/connection/server-list.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import { createZooKeeperLockClient } from '../../../lib/zookeeper/create-zookeeper-lock-client.js';
import { ZooKeeperLockClient } from '../../../lib/zookeeper/zookeeper-lock-client.js';
import { type Driver, transportOf } from '../../support/zookeeper-driver.js';

const KEYS = 10;
/** Between two attempts to connect, in ms. */
const LONGEST_BACKOFF = 1_000;
/** After so many leases what is remembered of a bounded number of names is full. */
const WARM_UP_LEASES = 12_000;

const [, , what, times, connect] = process.argv;

interface Check {
  readonly client: ZooKeeperLockClient | RedisLockClient;
  warmUp(): Promise<void>;
  work(): Promise<void>;
}

const checks: Record<string, () => Promise<Check>> = {
  native: async () => onZooKeeper(await zooKeeper('native')),
  wire: async () => onZooKeeper(await zooKeeper('wire')),
  'native-cuts': async () => withCuts('native'),
  'wire-cuts': async () => withCuts('wire'),
  embedded: async () => onZooKeeper(createEmbeddedLockClient('leaks')),
  redis: async () => onRedis(await createRedisLockClient('leaks', { connect: connect! })),
  leases: async () => withLeases(await createRedisLockClient('leaks', { connect: connect! })),
};
const { client, warmUp, work } = await checks[what!]!();
await client.connect();

const told = once(process, 'message');
await warmUp();
await tellHeap();
await told;
const toldToClose = once(process, 'message');
await work();
await tellHeap();
await toldToClose;
await client.close();
process.disconnect();

function zooKeeper(driver: Driver): Promise<ZooKeeperLockClient> {
  return createZooKeeperLockClient('leaks', { connect: connect!, driver });
}

/** Its client reconnects at once, however often it has to. */
async function withCuts(driver: Driver): Promise<Check> {
  const [host, port] = connect!.split(':');
  const connection = new SessionConnection({
    transport: await transportOf(driver),
    servers: new ServerList([{ host: host!, port: Number(port) }], Math.random, systemClock),
    sessionTimeout: 30_000,
    clock: {
      now: () => systemClock.now(),
      setTimer: (fn, ms, background) =>
        systemClock.setTimer(fn, ms <= LONGEST_BACKOFF ? 0 : ms, background),
    },
  });
  const client = new ZooKeeperLockClient({
    name: 'leaks',
    connection,
    events: new LockEventEmitter(),
    clock: systemClock,
    basePath: '/locks',
    connectTimeout: 15_000,
    wait: 'forever',
    retryPolicy: new RetryForever(50),
  });
  let reconnected = () => {};
  client.on('connection', ({ state }) => state === 'RECONNECTED' && reconnected());
  const beCut = async (count: number) => {
    await using lease = await client.mutex('held').acquire();
    for (let n = 0; n < count; n++) {
      const again = new Promise<void>((resolve) => (reconnected = resolve));
      process.send!('cut');
      await again;
    }
    if (!lease.isHeld) throw new Error('the lock was lost');
  };
  return { client, warmUp: () => beCut(100), work: () => beCut(Number(times)) };
}

function onZooKeeper(client: ZooKeeperLockClient): Check {
  const lockWork = async (count: number) => {
    await take(10 * count, (key) => client.mutex(`key ${key}`));
    await miss(count, client.mutex('taken'));
  };
  return { client, warmUp: () => lockWork(200), work: () => lockWork(Number(times)) };
}

function onRedis(client: RedisLockClient): Check {
  const kinds: ((key: string) => Lock)[] = [
    (key) => client.mutex(`mutex ${key}`),
    (key) => client.mutex(`fenced ${key}`, { fenced: true }),
    (key) => client.mutex(`fair ${key}`, { fair: true }),
    (key) => client.readWriteLock(`prices ${key}`).readLock(),
    (key) => client.readWriteLock(`prices ${key}`).writeLock(),
  ];
  let taken = 0;
  const lockWork = async (count: number) => {
    // Two at a time want the same lock.
    await take(10 * count, (key, i) => kinds[i % kinds.length]!(`${key % (KEYS / 2)}`));
    for (let i = 0; i < count; i++)
      await (await client.mutex(`only ${(taken += 1)}`).acquire({ wait: 20_000 })).release();
    for (const kind of kinds.slice(0, 3)) await miss(count / 3, kind('taken'));
  };
  return { client, warmUp: () => lockWork(200), work: () => lockWork(Number(times)) };
}

function withLeases(client: RedisLockClient): Check {
  const together = 500;
  let lost = 0;
  let taken = 0;
  client.on('lost', () => (lost += 1));
  const takeAndLeave = async (count: number) => {
    for (const last = taken + count; taken < last;) {
      const once = Array.from({ length: together }, () =>
        client.mutex(`once ${taken++}`).tryAcquire({ lease: 1_000, wait: 20_000 }),
      );
      if ((await Promise.all(once)).includes(undefined)) throw new Error('a new lock was taken');
    }
    while (lost < taken) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  return {
    client,
    warmUp: () => takeAndLeave(WARM_UP_LEASES),
    work: () => takeAndLeave(Number(times)),
  };
}

/** Acquires and releases, a few at a time. */
async function take(count: number, lock: (key: number, i: number) => Lock): Promise<void> {
  const takeOf = async (key: number) => {
    for (let i = 0; i < count / KEYS; i++)
      await (await lock(key, i).acquire({ wait: 20_000 })).release();
  };
  await Promise.all(Array.from({ length: KEYS }, (_, key) => takeOf(key)));
}

/** Waits in vain, a hundred at a time, until the wait is over, and as often until it is aborted. */
async function miss(count: number, lock: Lock): Promise<void> {
  for (const giveUp of [() => ({ wait: 20 }), () => ({ signal: AbortSignal.timeout(20) })]) {
    await using _ = await lock.acquire();
    for (let missed = 0; missed < count; missed += 100) {
      const waits = Array.from({ length: 100 }, () => lock.acquire(giveUp()));
      const results = await Promise.allSettled(waits);
      if (results.some(({ status }) => status === 'fulfilled'))
        throw new Error('a taken lock was granted');
    }
  }
}

/** What is left in the background of the work ends by itself, and cancelled timers are dropped within half a second. */
async function tellHeap(): Promise<void> {
  let used = await heapUsed();
  for (let last = Infinity; used < 0.99 * last; used = await heapUsed()) {
    last = used;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  process.send!(used);
}

async function heapUsed(): Promise<number> {
  for (let i = 0; i < 5; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc!();
  }
  return process.memoryUsage().heapUsed;
}
