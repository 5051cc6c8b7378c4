// Loads a server that is killed again and again, and opens foreign connections in the turns in which it learns of it.
// Arguments: the connect string. Says each state, and `loaded` when it is busy; asked for a report, it gives it and ends.
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { ZooKeeperError } from '../../../lib/zookeeper/connection/zookeeper-error.js';
import { ForeignTraffic } from '../../storm/load.js';
import { TestClient } from '../support/test-client.js';

/** So many answers make a load. */
const LOAD = 50;
/** More requests are not under way at a time: they are to be sent while the connection breaks, not to pile up. */
const MOST_UNDER_WAY = 50;

const client = await TestClient.connect(process.argv[2]!, { sessionTimeout: 20_000 });
const { connection } = client;
const foreign = await ForeignTraffic.start();
let underWay = 0;
let answers = 0;
let unanswered = 0;
let isOver = false;

async function ask(): Promise<void> {
  if (underWay === MOST_UNDER_WAY) return;
  underWay += 1;
  try {
    await connection.exists('/');
    answers += 1;
    if (answers === LOAD) process.send!('loaded');
  } catch (error) {
    if (!(error as ZooKeeperError).maybeDone) return; // refused: there is no connection
    unanswered += 1;
    foreign.open();
  } finally {
    underWay -= 1;
  }
}

/** Busy, so that the connection breaks while it sends rather than while it waits. */
async function burst(): Promise<void> {
  while (!isOver) {
    if (!connection.isConnected) await delay(10); // lets the server start
    for (let n = 0; n < 20; n++) void ask();
    const start = performance.now();
    while (performance.now() - start < 5);
    await nextTurn();
  }
}

async function steady(): Promise<void> {
  while (!isOver) {
    await (connection.isConnected ? nextTurn() : delay(10));
    await ask();
  }
}

connection.onStateChange((state) => {
  answers = 0;
  foreign.open();
  process.send!(state);
});
const timers = [setInterval(() => foreign.open(), 7), setInterval(() => void ask(), 3)];
const work = [burst(), steady(), steady()];

process.once('message', () => void report());
process.once('disconnect', () => process.exit());

async function report(): Promise<void> {
  isOver = true;
  timers.forEach(clearInterval);
  await Promise.all(work);
  await foreign.settled();
  const { opened, hung } = foreign;
  process.send!({ unanswered, opened, hung });
  await client.locks.close();
  process.disconnect();
}
