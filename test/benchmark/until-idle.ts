import { setTimeout as delay } from 'node:timers/promises';
import type { ZooKeeperServer } from '../support/zookeeper-server.js';
import { receivedRequests } from './received-requests.js';

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
