import { createRedLockClient } from '../../../lib/redis/red-lock/create-red-lock-client.js';
import { RedisServer } from '../../support/redis-server.js';
import { alternately, mediansOf, percentile } from '../measuring.js';
import { peerRow, row, type Row } from '../row.js';
import { BareLocks, sendBy } from './bare-locks.js';
import {
  type Acquire,
  type LockMaker,
  NodeContestant,
  type RedissonContestant,
} from './contestants.js';
import { peerLibraries } from './libraries.js';

const SERVERS = 5;
const CYCLES = 100;
/** To the slowest of as many bare scripts sent at the same time. */
const TARGET = 1.3;
const PEERS_TARGET = 1;
const JUDGED = { target: PEERS_TARGET, higherIsBetter: true };
const ROUNDS = { rounds: 20, warmUp: 20 };

/** Makes Redisson's contestant, if it can. */
type StartRedisson = (urls: readonly string[]) => Promise<RedissonContestant | undefined>;

/** A lock of several servers that nobody else wants; Redisson apart, whose machine has work to do after its turns. */
export async function redLock(hasPeers: boolean, startRedisson: StartRedisson): Promise<Row[]> {
  const servers = await Promise.all(Array.from({ length: SERVERS }, () => RedisServer.start()));
  const nodes = servers.map(({ url }) => url);
  const client = await createRedLockClient('benchmark', { nodes });
  try {
    await client.connect();
    const clientsOf = () => servers.map((server) => server.client());
    const bare = await Promise.all(clientsOf().map((each) => BareLocks.on(sendBy(each))));
    const peers = hasPeers ? peerLibraries(clientsOf) : {};
    const makers: Record<string, LockMaker> = {
      ours: (key) => async () => {
        const lease = await client.mutex(key).acquire();
        return () => lease.release();
      },
      ...Object.fromEntries(Object.entries(peers).map(([name, { lock }]) => [name, lock])),
      floor: together(bare),
    };
    const contestants = Object.fromEntries(
      Object.entries(makers).map(([name, lockOn]) => [name, lockOn(`red ${name}`)]),
    );
    const measured = await alternately(contestants, run, ROUNDS);
    const { floor, ...acquires } = mediansOf(measured, ({ acquire }) => acquire);
    const { floor: bareRate, ...rates } = mediansOf(measured, ({ rate }) => rate);
    const name = `RedLock of ${SERVERS}`;
    const redisson = await startRedisson(nodes);
    const beside = redisson ? await besideRedisson(makers.ours!, redisson) : undefined;
    return [
      row(`${name}, acquire, p50`, 'µs', acquires.ours!, floor!, TARGET),
      peerRow(`${name}, acquire, p50`, 'µs', acquires, { target: PEERS_TARGET }),
      row(`${name}, cycles`, '1/s', rates.ours!, bareRate!, null, true),
      peerRow(`${name}, cycles`, '1/s', rates, JUDGED),
      ...(beside ? [peerRow(`${name}, cycles`, '1/s', beside, JUDGED)] : []),
    ];
  } finally {
    await client.close();
    await Promise.all(servers.map((server) => server.stop()));
  }
}

async function besideRedisson(lockOn: LockMaker, redisson: RedissonContestant) {
  const contestants = { ours: new NodeContestant(lockOn), Redisson: redisson.of('redLock') };
  const asked = { keys: 1, lanes: 1, count: CYCLES };
  try {
    const measured = await alternately(contestants, (each) => each.cycles(asked), ROUNDS);
    return mediansOf(measured, ({ took }) => CYCLES / (took / 1_000));
  } finally {
    await redisson.close();
  }
}

/** All at the same time, until the slowest has answered. */
function together(locks: readonly BareLocks[]): LockMaker {
  return (key) => {
    const acquires = locks.map((lock) => lock.lockOn(key));
    return async () => {
      const releases = await Promise.all(acquires.map((acquire) => acquire()));
      return () => Promise.all(releases.map((release) => release()));
    };
  };
}

async function run(acquire: Acquire): Promise<{ acquire: number; rate: number }> {
  const times: number[] = [];
  const begin = performance.now();
  for (let i = 0; i < CYCLES; i++) {
    const start = performance.now();
    const release = await acquire();
    times.push((performance.now() - start) * 1_000);
    await release();
  }
  const took = performance.now() - begin;
  return { acquire: percentile(times, 0.5), rate: CYCLES / (took / 1_000) };
}
