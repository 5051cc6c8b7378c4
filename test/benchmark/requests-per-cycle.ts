import type { ZooKeeperServer } from '../support/zookeeper-server.js';
import { receivedRequests } from './received-requests.js';

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
