import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createZooKeeperLockClient } from '../../lib/zookeeper/create-zookeeper-lock-client.js';
import { CreateMode } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import type { ZooKeeperServer } from '../support/zookeeper-server.js';
import { BareDriver } from './bare-driver.js';
import { percentile } from './percentile.js';
import { row, type Row } from './row.js';

const ROUNDS = 500;
const WARM_UP = 100;
const TARGET = 1.3;

/**
 * From the release in this process to the grant in another, against the delete of a node here and the event of a bare
 * watch there. Both processes read the machine's monotonic clock.
 */
export async function handOff(server: ZooKeeperServer): Promise<Row[]> {
  const peer = fork(new URL('./hand-off-peer.ts', import.meta.url), [server.connectString]);
  await once(peer, 'message');
  const client = await createZooKeeperLockClient('holder', { connect: server.connectString });
  await client.connect();
  const bare = await BareDriver.connect(server.connectString);
  await bare.create('/bare-hand-off', Buffer.alloc(0), CreateMode.PERSISTENT);

  const ours: number[] = [];
  const floor: number[] = [];
  for (let round = -WARM_UP; round < ROUNDS; round++) {
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
      TARGET,
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
