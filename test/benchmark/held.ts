import { readFileSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Lease } from '../../lib/core/lease.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import { ClientInspector } from '../../lib/inspector/client-inspector.js';
import { inspectorSettings } from '../../lib/inspector/lock-inspector-options.interface.js';
import { RedisServer } from '../support/redis-server.js';
import { usedHeap } from './growth/cost.js';

/** Renewals of a million locks every 10 s would take a processor of their own. */
const WATCHDOG_TIMEOUT = 120_000;
const UNTIL_ALL_ARE_RENEWED = WATCHDOG_TIMEOUT / 3;
const FIXED_LEASE = 60_000;
const WIDTH = 100;

/**
 * One process that holds `n` locks on Redis: what their acquire, their renewals, looks of the inspector, one cut of all
 * connections, the end of many leases at once, and the close do to the event loop.
 */
export async function held(n: number): Promise<void> {
  const server = await RedisServer.start();
  const connect = async () => {
    const options = { connect: server.url, watchdogTimeout: WATCHDOG_TIMEOUT };
    const client = await createRedisLockClient('held', options);
    await client.connect();
    return client;
  };
  console.log(cells('', HEAD));
  try {
    const client = await connect();
    const heapBefore = usedHeap();
    const leases = new Array<Lease>(n);
    await phase(`acquire ${n}`, () => acquireAll(client, leases));
    const heap = Math.round((usedHeap() - heapBefore) / n);
    await phase('renewed once', () => delay(UNTIL_ALL_ARE_RENEWED));
    const inspector = new ClientInspector(client, inspectorSettings({}));
    await inspector.inspect();
    await phase('ten looks', async () => {
      for (let look = 0; look < 10; look++) await inspector.inspect();
    });
    await phase('cut', async () => {
      for (const type of ['normal', 'pubsub']) await server.command('CLIENT', 'KILL', 'TYPE', type);
      await delay(UNTIL_ALL_ARE_RENEWED);
    });
    const lost = leases.reduce((count, { isHeld }) => count + (isHeld ? 0 : 1), 0);
    await phase('close', () => client.close(3_600_000));
    console.log(`${heap} bytes of heap each, ${lost} lost, ${await locksOn(server)} left`);
    await endAtOnce(await connect(), Math.min(n, 100_000));
  } finally {
    await server.stop();
  }
}

/** The ends of leases that are not renewed, all due in one turn, as after a freeze of the process. */
async function endAtOnce(client: RedisLockClient, n: number): Promise<void> {
  const leases = new Array<Lease>(n);
  let told = 0;
  await acquireAll(client, leases, FIXED_LEASE);
  for (const { signal } of leases) signal.addEventListener('abort', () => (told += 1));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FIXED_LEASE);
  await phase(`${n} leases end`, async () => {
    while (told < n) await delay(1);
  });
  await client.close();
}

async function acquireAll(client: RedisLockClient, leases: Lease[], lease?: number) {
  let next = 0;
  const lane = async () => {
    while (next < leases.length) {
      const i = next++;
      leases[i] = await client.mutex(`order:${i}`).acquire({ lease });
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, lane));
}

/** Not counted are the tombstones, which releases leave after a cut. */
async function locksOn(server: RedisServer): Promise<number> {
  return Number(await server.command('EVAL', "return #redis.call('keys', 'order:*')", 0));
}

const HEAD = ['ms', 'CPU ms', 'stall', 'turn', 'GC max', 'GC all'];

const cells = (name: string, values: readonly (string | number)[]) =>
  name.padEnd(20) + values.map((value) => String(value).padStart(9)).join('');

/**
 * Prints how long the work took and its CPU time; the longest time in which the process did nothing else, and how much CPU time its
 * main thread had in that: other programs may have had the processor for the rest; and the pauses of the garbage collector.
 */
async function phase(name: string, work: () => Promise<unknown>): Promise<void> {
  let [stall, turn, pause, paused] = [0, 0, 0, 0];
  let [lookedAt, cpuThen] = [performance.now(), mainThreadCpu()];
  const [begin, cpuBegin] = [lookedAt, cpuThen];
  const look = () => {
    const [now, cpu] = [performance.now(), mainThreadCpu()];
    stall = Math.max(stall, now - lookedAt);
    turn = Math.max(turn, cpu - cpuThen);
    [lookedAt, cpuThen] = [now, cpu];
  };
  const collector = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      pause = Math.max(pause, duration);
      paused += duration;
    }
  });
  collector.observe({ entryTypes: ['gc'] });
  const looks = setInterval(look, 1);
  await work();
  const ms = performance.now() - begin;
  await delay(20);
  clearInterval(looks);
  collector.disconnect();
  const values = [ms, mainThreadCpu() - cpuBegin, stall, turn, pause, paused];
  console.log(cells(name, values.map(Math.round)));
}

/** CPU time of the main thread in ms; NaN where the system does not tell. */
function mainThreadCpu(): number {
  try {
    const stat = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8');
    return Number(stat.split(' ')[0]) / 1e6;
  } catch {
    return NaN;
  }
}
