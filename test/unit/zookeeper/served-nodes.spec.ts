import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { Lease } from '../../../lib/core/lease.js';
import { ServedNodeShortcut } from '../../../lib/zookeeper/locks/saved-requests.js';
import { Client } from '../../contract/client.js';
import { EmbeddedBackend } from '../../contract/embedded-backend.js';
import { eventually } from '../../support/eventually.js';
import { isSettled } from '../../support/is-settled.js';

let mine: Client;
let theirs: Client;

beforeEach(async () => {
  const backend = new EmbeddedBackend();
  [mine, theirs] = await Promise.all([connected(backend), connected(backend)]);
});
afterEach(() => Promise.all([mine.locks.close(), theirs.locks.close()]));

it('lets the waiters of one client follow each other without a list', async () => {
  const leases = await queue([mine, mine, mine, mine]);
  const before = lists(mine);
  for (const lease of leases) await (await lease).release();
  expect(lists(mine)).toBe(before);
});

it('knows nothing of the nodes of other clients: a waiter that follows one lists the queue', async () => {
  const leases = await queue([theirs, mine, theirs, mine]);
  const before = lists(mine);
  for (const lease of leases) await (await lease).release();
  expect(lists(mine)).toBe(before + 1); // behind the first of the queue there is no need to
});

it('is not misled by a waiter of the same client that goes before its turn', async () => {
  const stop = new AbortController();
  const [first] = await queue([theirs]);
  const [given] = await queue([mine], stop.signal);
  const [last] = await queue([mine]);
  stop.abort();
  await expect(given).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
  await eventually('it has left', async () => (await participants()).length === 2);
  await mine.connection.sync('/');
  expect(await isSettled(last!)).toBe(false);
  await (await first!).release();
  await (await last!).release();
});

it('remembers the last one of a thousand directories', () => {
  const served = new ServedNodeShortcut();
  for (let directory = 0; directory <= 1_000; directory++) served.note(`/${directory}`, 'node');
  served.note('/1', 'another');
  expect([served.has('/0', 'node'), served.has('/1', 'node')]).toEqual([false, false]);
  expect([served.has('/1', 'another'), served.has('/1000', 'node')]).toEqual([true, true]);
});

async function connected(backend: EmbeddedBackend): Promise<Client> {
  const { transport, servers } = await backend.connect();
  const client = new Client(transport, servers, {});
  await client.locks.connect();
  return client;
}

/** Has one acquire after the other queue up. */
async function queue(clients: readonly Client[], signal?: AbortSignal): Promise<Promise<Lease>[]> {
  const leases: Promise<Lease>[] = [];
  for (const client of clients) {
    const length = (await participants()).length;
    const lease = client.mutex('door').acquire({ signal });
    lease.catch(() => {}); // read by the test, later
    leases.push(lease);
    await eventually('it queues', async () => (await participants()).length > length);
    await client.connection.sync('/'); // and has set its watches
  }
  return leases;
}

const participants = () => mine.mutex('door').participants();

/** Lists that were asked for by acquires. */
function lists({ requests }: Client): number {
  return requests.filter(({ op }) => op === 'getChildren').length;
}
