// The file of the worker thread that `SessionWorker` starts.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { SignOfLife } from '../../core/worker/sign-of-life.js';
import type { ThreadNews } from '../../core/worker/standby-thread.js';
import { clockOf } from '../../core/worker/thread-clock.js';
import { parseConnectString, ServerList } from '../connection/server-list.js';
import { WireTransport } from '../wire/wire-transport.js';
import type { SessionMessage, SessionWorkerStart } from './messages.js';
import { StandbySession } from './standby-session.js';

const { client, options, maxStall, sign: memory, time, port } = workerData as SessionWorkerStart;
const { connect, tickTime, auth, tls, sasl } = options;
const sign = new SignOfLife(memory);
const clock = clockOf(time, sign);
const { servers } = parseConnectString(connect, client);

const news = (what: ThreadNews): void => parentPort!.postMessage(what);

const session = new StandbySession({
  clock,
  sign,
  maxStall,
  transport: new WireTransport({ clock, tls, sasl }),
  servers: new ServerList(servers, Math.random, clock),
  tickTime,
  auth,
  confirm: (proof) => (port as MessagePort).postMessage(proof),
  failed: (reason) => news({ trouble: `could not connect to ZooKeeper (${reason})` }),
});
(port as MessagePort).on('message', (message: SessionMessage) => session.receive(message));
news('ready');
