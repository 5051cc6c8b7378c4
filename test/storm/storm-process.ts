// The process that must survive: a busy HTTP service with locks. Arguments: connect string, exclusive file, session timeout.
// Sends its port, then each state of its connection; on request, it sends a report.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { CreateMode } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import { TestClient } from '../faults/support/test-client.js';
import { eventually } from '../support/time.js';
import { contend, type Contention, ExclusiveFile, ForeignTraffic } from './load.js';
import type { StormReport } from './storm.js';

const [, , connectString, path, sessionTimeout] = process.argv;
const client = await TestClient.connect(connectString!, { sessionTimeout: Number(sessionTimeout) });
const { connection, locks } = client;
process.once('disconnect', () => process.exit());

const pending = new Set<{ readonly since: number }>();
let answered = 0;
let failed = 0;

/** Waits for the outcome of a request; every sixth failure opens a foreign connection in the turn that reports it. */
async function track(request: Promise<unknown>): Promise<void> {
  const entry = { since: performance.now() };
  pending.add(entry);
  try {
    await request;
    answered += 1;
  } catch {
    failed += 1;
    if (failed % 6 === 0) foreign.open();
  } finally {
    pending.delete(entry);
  }
}

const foreign = await ForeignTraffic.start();
connection.onStateChange((state) => {
  foreign.open();
  process.send!({ state });
});
setInterval(() => foreign.open(), 7);

// Load: by timers, by setImmediate, by promises in a row, and by HTTP.
setInterval(() => {
  for (let n = 0; n < 5; n++) void track(connection.exists('/'));
}, 3);
for (let n = 0; n < 3; n++) void askInTurns();
for (let n = 0; n < 10; n++) void makeAndDelete();
const http = createServer(
  (_, response) => void track(connection.exists('/')).then(() => response.end()),
);
http.listen(0, '127.0.0.1');
await once(http, 'listening');

// Locks: one held all the time, one contended by this process and by others.
const kept = await locks.mutex('kept').acquire();
const { signal } = kept;
const [node] = await locks.mutex('kept').participants();
const contention: Contention = { grants: 0, timeouts: 0, losses: 0 };
const file = new ExclusiveFile(path!);
for (let n = 0; n < 3; n++) void contend(locks.mutex('shared'), file, contention, () => false);

process.on('message', () => void report());
process.send!({ port: (http.address() as AddressInfo).port });

async function askInTurns(): Promise<void> {
  for (;;) {
    await track(connection.exists('/'));
    await nextTurn();
  }
}

async function makeAndDelete(): Promise<void> {
  for (;;) {
    const made = connection.create('/storm-', Buffer.alloc(0), CreateMode.EPHEMERAL_SEQUENTIAL);
    await track(made.then(({ path }) => connection.delete(path)));
    await delay(5);
  }
}

async function report(): Promise<void> {
  await foreign.settled();
  const stat = await eventually('an answer', async () => ({ is: await connection.exists(node!) }));
  const oldest = Math.min(performance.now(), ...[...pending].map(({ since }) => since));
  const { opened, hung } = foreign;
  const state: StormReport = {
    session: connection.session?.id ?? '',
    isLeaseKept: kept.isHeld && !signal.aborted && stat.is !== undefined,
    answered,
    failed,
    oldestPending: performance.now() - oldest,
    foreign: { opened, hung },
    contention,
    violations: file.violations,
  };
  process.send!({ report: state });
}
