import { setTimeout as delay } from 'node:timers/promises';
import type { LockClient } from '../../lib/core/lock-client.js';
import type { HandOff } from '../../lib/core/lock.js';
import { createEmbeddedLockClient } from '../../lib/embedded/create-embedded-lock-client.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import { createZooKeeperLockClient } from '../../lib/zookeeper/create-zookeeper-lock-client.js';
import { RedisServer } from '../support/redis-server.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { alternately, mediansOf } from './measuring.js';
import { peerRow, type Row, row } from './row.js';

/** Callers of one client, and of each of two. */
const [MANY, SOME] = [1_000, 100];
/** How many times as fast it is to be, with one client and with two. */
const [TARGET, TARGET_OF_TWO] = [20, 5];
const OFTEN: HandOff = { atMost: 1_000_000, for: 60_000 };
const KEEPING: HandOff = { ...OFTEN, keep: 1_000 };
/** How many times one caller takes the lock again. */
const AGAIN = 1_000;
/** In turns of two clients: both go on, and neither waits for long. */
const IN_TURNS: HandOff = { atMost: 25, for: 1_000 };

/** In the rows of waits a caller keeps it for 2 ms, by a timer that may be one late. */
const [KEPT, HOLD] = [2, 3];
/** From a release by one client to the grant to the other, on a machine that does something else for a while, in ms. */
const PASSAGE = 50;
const ROUNDS = 6;
/** The longest turn of a client: until it was handed on as often as it may, or for as long; the last caller then keeps it. */
const TURN = Math.min(IN_TURNS.atMost * HOLD, IN_TURNS.for) + HOLD + PASSAGE;
/** The last caller waits for the turns in which all others of its client are served, and as many of the other client. */
const TURNS = 2 * Math.ceil(SOME / (IN_TURNS.atMost + 1));

type MakeClient = () => Promise<LockClient>;

/**
 * Callers that want the same key at the same time, with and without `handOff`, on each backend. A wait that is longer than its
 * bound fails the run.
 */
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
  const keepOrNot = (handOff: HandOff | false) => () => timeOfAgain(client, handOff);
  const again = await medians({ ours: keepOrNot(KEEPING), without: keepOrNot(false) });
  const readOrShare = (handOff: HandOff | false) => () => timeOfReaders(client, handOff);
  const readers = await medians({ ours: readOrShare(OFTEN), without: readOrShare(false) });
  const waits = await longestWaits(clients);
  await Promise.all(clients.map((each) => each.close()));
  const isServer = name !== 'embedded';
  // On Redis any waiter may be the next: a client may have several turns before the other has one.
  const isOrdered = name !== 'Redis';
  const ofWaits = [
    row(
      `longest wait of these callers, ${KEPT} ms each, ${name}`,
      'ms',
      waits.ofCallers,
      null,
      TURNS * TURN,
    ),
    row(
      `longest wait of one of these clients, ${name}`,
      'ms',
      waits.ofClients,
      null,
      isOrdered ? TURN : null,
    ),
  ];
  if (ofWaits.some(({ ok }) => !ok)) process.exitCode = 1;
  return [
    peerRow(`${MANY} callers of one client, ${name}`, 'ms', one, {
      target: isServer ? TARGET : null,
    }),
    peerRow(`${SOME} callers of each of two clients, ${name}`, 'ms', two, {
      target: isServer ? TARGET_OF_TWO : null,
    }),
    peerRow(`${AGAIN} times again by one client, ${name}`, 'ms', again, {
      target: isServer ? TARGET : null,
    }),
    peerRow(`${MANY} readers of one client, ${name}`, 'ms', readers),
    ...ofWaits,
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
  await visits(clients, callers, handOff, () => {});
  return performance.now() - begin;
}

/** How long it takes one caller to have the lock that many times, in ms. */
async function timeOfAgain(client: LockClient, handOff: HandOff | false): Promise<number> {
  const mutex = client.mutex('again', { handOff });
  const begin = performance.now();
  for (let i = 0; i < AGAIN; i++) await mutex.using(() => {});
  return performance.now() - begin;
}

/** How long it takes until that many callers read at the same time, and have left, in ms. */
async function timeOfReaders(client: LockClient, handOff: HandOff | false): Promise<number> {
  const sharing = handOff && { atMost: handOff.atMost, for: handOff.for };
  const lock = client.readWriteLock('read', { handOff: sharing }).readLock();
  const begin = performance.now();
  const leases = await Promise.all(Array.from({ length: MANY }, () => lock.acquire()));
  await Promise.all(leases.map((lease) => lease.release()));
  return performance.now() - begin;
}

/** In ms, in several rounds: of a caller until it has the lock, and of a client from one turn to the next. */
async function longestWaits(clients: readonly LockClient[]) {
  let [ofCallers, ofClients] = [0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const begin = performance.now();
    const last = new Map(clients.map((client) => [client, begin]));
    await visits(clients, SOME, IN_TURNS, async (client) => {
      const now = performance.now();
      ofCallers = Math.max(ofCallers, now - begin);
      ofClients = Math.max(ofClients, now - last.get(client)!);
      await delay(KEPT);
      last.set(client, performance.now());
    });
  }
  return { ofCallers, ofClients };
}

/** Has that many callers of each client acquire the lock at the same time. */
async function visits(
  clients: readonly LockClient[],
  callers: number,
  handOff: HandOff | false,
  visit: (client: LockClient) => void | Promise<void>,
): Promise<void> {
  const calls = clients.flatMap((client) => {
    const mutex = client.mutex('hot', { handOff });
    return Array.from({ length: callers }, () => mutex.using(() => visit(client)));
  });
  await Promise.all(calls);
}
