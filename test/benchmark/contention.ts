import type { LockClient } from '../../lib/core/lock-client.js';
import type { HandOff } from '../../lib/core/lock.js';
import { createEmbeddedLockClient } from '../../lib/embedded/create-embedded-lock-client.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import { createZooKeeperLockClient } from '../../lib/zookeeper/create-zookeeper-lock-client.js';
import { RedisServer } from '../support/redis-server.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { alternately, mediansOf } from './measuring.js';
import { peerRow, type Row } from './row.js';

/** Callers of one client, and of each of two. */
const [MANY, SOME] = [1_000, 100];
/** How many times as fast it is to be, with one client and with two. */
const [TARGET, TARGET_OF_TWO] = [20, 5];
const OFTEN: HandOff = { atMost: 1_000_000, for: 60_000 };
/** In turns of two clients: both go on, and neither waits for long. */
const IN_TURNS: HandOff = { atMost: 25, for: 1_000 };

type MakeClient = () => Promise<LockClient>;

/** Callers that want the same key at the same time, with and without `handOff`, on each backend. */
export async function contention(): Promise<Row[]> {
  const server = await RedisServer.start();
  const zookeeper = await ZooKeeperServer.start();
  try {
    return [
      ...(await rows('Redis', () => createRedisLockClient('hot', { client: server.client() }))),
      ...(await rows('ZooKeeper', () =>
        createZooKeeperLockClient('hot', { connect: zookeeper.connectString }),
      )),
      ...(await rows('embedded', async () => createEmbeddedLockClient('hot'))),
    ];
  } finally {
    await Promise.all([server.stop(), zookeeper.stop()]);
  }
}

async function rows(name: string, makeClient: MakeClient): Promise<Row[]> {
  const clients = await Promise.all([makeClient(), makeClient()]);
  await Promise.all(clients.map((client) => client.connect()));
  const [client] = clients;
  const handedOn = (handOff: HandOff | false) => () => timeOf([client], MANY, handOff);
  const both = (handOff: HandOff | false) => () => timeOf(clients, SOME, handOff);
  const one = await medians({ ours: handedOn(OFTEN), without: handedOn(false) });
  const two = await medians({ ours: both(IN_TURNS), without: both(false) });
  await Promise.all(clients.map((each) => each.close()));
  const isServer = name !== 'embedded';
  return [
    peerRow(`${MANY} callers of one client, ${name}`, 'ms', one, {
      target: isServer ? TARGET : null,
    }),
    peerRow(`${SOME} callers of each of two clients, ${name}`, 'ms', two, {
      target: isServer ? TARGET_OF_TWO : null,
    }),
  ];
}

type Times = Record<'ours' | 'without', number>;

async function medians(ways: Record<keyof Times, () => Promise<number>>): Promise<Times> {
  const measured = await alternately(ways, (way) => way(), { rounds: 15, warmUp: 5 });
  return { ours: NaN, without: NaN, ...mediansOf(measured, (ms) => ms) };
}

/** How long it takes until all have had the lock, in ms. */
async function timeOf(
  clients: readonly LockClient[],
  callers: number,
  handOff: HandOff | false,
): Promise<number> {
  const begin = performance.now();
  const calls = clients.flatMap((client) => {
    const mutex = client.mutex('hot', { handOff });
    return Array.from({ length: callers }, () => mutex.using(() => {}));
  });
  await Promise.all(calls);
  return performance.now() - begin;
}
