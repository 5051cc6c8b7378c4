import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { CreateMode } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import { createZooKeeperLockClient } from '../../lib/zookeeper/create-zookeeper-lock-client.js';
import type { ZooKeeperServer } from '../support/zookeeper-server.js';
import { BareDriver } from './bare-driver.js';
import { percentile, sideBySide } from './measuring.js';
import { row, type Row } from './row.js';
import { requestsPerCycle } from './server-requests.js';

const NODE = '_c_6f1c2d9e-5a7b-4c1d-9e8f-0a1b2c3d4e5f-lock-';
const DATA = Buffer.from('127.0.0.1');
const TARGET = 1.15;

/** Acquire + release of a lock that nobody else wants, against a bare create + delete of a like node. */
export async function uncontended(server: ZooKeeperServer): Promise<Row[]> {
  const bare = await BareDriver.connect(server.connectString);
  const client = await createZooKeeperLockClient('benchmark', { connect: server.connectString });
  await client.connect();
  for (let lane = 0; lane < 100; lane++)
    await bare.create(`/bare-${lane}`, DATA, CreateMode.PERSISTENT);
  const mutexes = Array.from({ length: 100 }, (_, lane) => client.mutex(`ours-${lane}`));
  const works = {
    ours: async (lane: number) => (await mutexes[lane]!.acquire()).release(),
    floor: async (lane: number) =>
      bare.delete(
        await bare.create(`/bare-${lane}/${NODE}`, DATA, CreateMode.EPHEMERAL_SEQUENTIAL),
      ),
  };
  const rows: Row[] = [];
  for (const lanes of [1, 10, 100]) {
    const { ours, floor } = await sideBySide(works, {
      rounds: 30,
      calls: lanes === 1 ? 200 : 2_000,
      lanes,
    });
    if (lanes === 1)
      for (const [name, p, target] of [
        ['p50', 0.5, TARGET],
        ['p99', 0.99, null],
      ] as const)
        rows.push(
          row(
            `acquire + release, ${name}`,
            'µs',
            percentile(ours.times, p),
            percentile(floor.times, p),
            target,
          ),
        );
    const rate = (rates: number[]) => percentile(rates, 0.5);
    rows.push(
      row(`cycles, ${lanes} in flight`, '1/s', rate(ours.rates), rate(floor.rates), TARGET, true),
    );
  }
  const cycle = async (key: string) => (await client.mutex(key).acquire()).release();
  const again = await requestsPerCycle(server, () => cycle('again'));
  const another = await requestsPerCycle(server, (i) => cycle(`another-${i}`));
  rows.push(row('requests a cycle, the same lock again', 'requests', again, 2));
  rows.push(row('requests a cycle, another lock each time', 'requests', another, 2));
  await client.close();
  bare.close();
  return rows;
}

const HAND_OFFS = 500;
const HAND_OFFS_BEFORE = 100;
const HAND_OFF_TARGET = 1.3;

/**
 * From the release in this process to the grant in another, against the delete of a node here and the event of a bare
 * watch there. Both processes read the machine's monotonic clock.
 */
export async function handOff(server: ZooKeeperServer): Promise<Row[]> {
  const peer = fork(new URL('./hand-off-peer.js', import.meta.url), [server.connectString]);
  await once(peer, 'message');
  const client = await createZooKeeperLockClient('holder', { connect: server.connectString });
  await client.connect();
  const bare = await BareDriver.connect(server.connectString);
  await bare.create('/bare-hand-off', Buffer.alloc(0), CreateMode.PERSISTENT);

  const ours: number[] = [];
  const floor: number[] = [];
  for (let round = -HAND_OFFS_BEFORE; round < HAND_OFFS; round++) {
    const lease = await client.mutex('hand-off').acquire();
    const oursTook = await timeToWake(peer, { acquire: true }, () => lease.release());
    const path = await bare.create(
      '/bare-hand-off/lock-',
      Buffer.alloc(0),
      CreateMode.EPHEMERAL_SEQUENTIAL,
    );
    const floorTook = await timeToWake(peer, { watch: path }, () => bare.delete(path));
    if (round < 0) continue;
    ours.push(oursTook);
    floor.push(floorTook);
  }

  const exited = once(peer, 'exit');
  peer.disconnect();
  await exited;
  await client.close();
  bare.close();
  return [
    row(
      'hand-off between processes, p50',
      'µs',
      percentile(ours, 0.5),
      percentile(floor, 0.5),
      HAND_OFF_TARGET,
    ),
    row('hand-off between processes, p99', 'µs', percentile(ours, 0.99), percentile(floor, 0.99)),
  ];
}

async function timeToWake(
  peer: ChildProcess,
  order: object,
  letGo: () => Promise<void>,
): Promise<number> {
  peer.send(order);
  await once(peer, 'message');
  const woken = once(peer, 'message') as Promise<[{ wokenAt: string }]>;
  const letGoAt = process.hrtime.bigint();
  await letGo();
  const [{ wokenAt }] = await woken;
  return Number(BigInt(wokenAt) - letGoAt) / 1000;
}
