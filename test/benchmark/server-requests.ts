import { setTimeout as delay } from 'node:timers/promises';
import type { ZooKeeperServer } from '../support/zookeeper-server.js';

/** How many requests the server has received since it started, by its own count. */
export async function receivedRequests(server: ZooKeeperServer): Promise<number> {
  return Number(/Received: (\d+)/.exec(await server.fourLetterWord('srvr'))?.[1]);
}

/** More than the client remembers, so that going round through as many locks finds each of them forgotten. */
const CYCLES = 2_000;

/** How many requests the server receives for one `cycle`, by its own count; the making of directories is left out. */
export async function requestsPerCycle(
  server: ZooKeeperServer,
  cycle: (i: number) => Promise<unknown>,
): Promise<number> {
  for (let i = 0; i < CYCLES; i++) await cycle(i); // makes the directories
  const before = await receivedRequests(server);
  for (let i = 0; i < CYCLES; i++) await cycle(i);
  return ((await receivedRequests(server)) - before) / CYCLES;
}

/** Heartbeats, and our own questions, that the server may get between two looks although everybody waits. */
const BACKGROUND = 3;

/**
 * Resolves when the server has had next to nothing to do for three looks in a row: everybody who queues is in the queue and
 * has set its watches.
 */
export async function untilIdle(server: ZooKeeperServer): Promise<void> {
  let seen = await receivedRequests(server);
  for (let idle = 0; idle < 3;) {
    await delay(25);
    const now = await receivedRequests(server);
    idle = now - seen <= BACKGROUND ? idle + 1 : 0;
    seen = now;
  }
}
