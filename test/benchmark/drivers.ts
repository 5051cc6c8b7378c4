import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { LockClient } from '../../lib/core/lock-client.js';
import { createZooKeeperLockClient } from '../../lib/zookeeper/create-zookeeper-lock-client.js';
import { eventually } from '../support/time.js';
import { type Driver, drivers as names } from '../support/zookeeper-driver.js';
import type { ZooKeeperServer } from '../support/zookeeper-server.js';
import { percentile, sideBySide } from './measuring.js';
import { row, type Row } from './row.js';

/** The wire driver is to be no slower than the native one. */
const TARGET = 1;
const ROUNDS_OF_CPU = 10;
const CYCLES_OF_CPU = 1_000;
/** Keys, each with as many waiters. */
const KEYS = 100;
const ROUNDS_OF_WAITERS = 5;

/** Acquire + release by the wire driver, against the same by the native one. */
export async function drivers(server: ZooKeeperServer): Promise<Row[]> {
  const clients = await Promise.all(
    names.map((driver) =>
      createZooKeeperLockClient(driver, { connect: server.connectString, driver }),
    ),
  );
  await Promise.all(clients.map((client) => client.connect()));
  const [native, wire] = clients.map((client) => {
    const mutexes = Array.from({ length: 100 }, (_, i) => client.mutex(`${client.name}-${i}`));
    return async (lane: number) => (await mutexes[lane]!.acquire()).release();
  });
  const rows: Row[] = [];
  for (const lanes of [1, 10, 100]) {
    const calls = lanes === 1 ? 200 : 2_000;
    const works = { ours: wire!, floor: native! };
    const { ours, floor } = await sideBySide(works, { rounds: 20, calls, lanes });
    const rate = (rates: number[]) => percentile(rates, 0.5);
    const name = `wire beside native: cycles, ${lanes} in flight`;
    rows.push(row(name, '1/s', rate(ours.rates), rate(floor.rates), TARGET, true));
  }
  const cpu = { wire: 0, native: 0 };
  for (let round = 0; round < ROUNDS_OF_CPU; round++) {
    cpu.native += await cpuOf(native!);
    cpu.wire += await cpuOf(wire!);
  }
  const name = 'wire beside native: CPU of a cycle, 10 in flight';
  rows.push(row(name, 'µs', cpu.wire / ROUNDS_OF_CPU, cpu.native / ROUNDS_OF_CPU, TARGET));
  const delays = { wire: [] as number[], native: [] as number[] };
  for (let round = 0; round < ROUNDS_OF_WAITERS; round++)
    for (const client of clients)
      delays[client.name as Driver].push(await delayOf(client, `waited-for-${round}`));
  const [ours, floor] = [percentile(delays.wire, 0.5), percentile(delays.native, 0.5)];
  const delay = 'wire beside native: event loop delay, p99, 10,000 wait and are served';
  rows.push(row(delay, 'ms', ours, floor, TARGET));
  await Promise.all(clients.map((client) => client.close()));
  return rows;
}

/** The 99th percentile of the delay of the event loop while many wait and are served, in ms. */
async function delayOf(client: LockClient, name: string): Promise<number> {
  const mutexes = Array.from({ length: KEYS }, (_, i) => client.mutex(`${name}-${i}`));
  let waiting = 0;
  const stop = client.on('contended', () => void (waiting += 1));
  const held = await Promise.all(mutexes.map((mutex) => mutex.acquire()));
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  histogram.enable();
  const served = mutexes.flatMap((mutex) =>
    Array.from({ length: KEYS }, async () => (await mutex.acquire()).release()),
  );
  await eventually('all wait', () => waiting >= KEYS ** 2, { within: 60_000 });
  await Promise.all(held.map((lease) => lease.release()));
  await Promise.all(served);
  histogram.disable();
  stop();
  return histogram.percentile(99) / 1e6;
}

/** Processor time of this process for one cycle, in µs. */
async function cpuOf(cycle: (lane: number) => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  const lanes = Array.from({ length: 10 }, async (_, lane) => {
    for (let n = 0; n < CYCLES_OF_CPU / 10; n++) await cycle(lane);
  });
  await Promise.all(lanes);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CYCLES_OF_CPU;
}
