// The file of the worker thread that `RenewalWorker` starts.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { RedisConnection } from '../connection/redis-connection.js';
import { reasonOf } from '../connection/redis-error.js';
import { makeClient } from '../make-client.js';
import type { ThreadNews } from '../../core/worker/standby-thread.js';
import type { MirrorMessage, WorkerStart } from './messages.js';
import { SignOfLife } from '../../core/worker/sign-of-life.js';
import { StandbyRenewal } from './standby-renewal.js';
import { clockOf } from '../../core/worker/thread-clock.js';

const { client: name, options, maxStall, sign: memory, time, port } = workerData as WorkerStart;
const { watchdogTimeout = 30_000, connectTimeout = 15_000 } = options;
const sign = new SignOfLife(memory);
const clock = clockOf(time, sign);
const news = (what: ThreadNews): void => parentPort!.postMessage(what);

/** Makes a connection, which connects by itself: the client waits for the first one, but not for another after a stall. */
async function open(): Promise<RedisConnection> {
  let lastReason = 'no server has answered';
  const client = await makeClient(name, options);
  const connection = new RedisConnection({
    client,
    shardedSubscriptionMode: 'off',
    clock,
    onStateChange: (_, reason) => (lastReason = reason),
  });
  const late = () =>
    news({ trouble: `could not connect to Redis within ${connectTimeout} ms (${lastReason})` });
  const timer = clock.setTimer(late, connectTimeout, true);
  connection.onReady(() => {
    timer.cancel();
    news('ready');
  });
  client.connect().catch(() => {}); // it keeps trying
  return connection;
}

const renewal = new StandbyRenewal({
  clock,
  sign,
  watchdogTimeout,
  maxStall,
  open,
  confirm: (renewals) => (port as MessagePort).postMessage(renewals),
  failed: (error) => news({ trouble: `could not connect to Redis (${reasonOf(error)})` }),
});
(port as MessagePort).on('message', (message: MirrorMessage) => renewal.receive(message));
