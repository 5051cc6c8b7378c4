import { lookup } from 'node:dns/promises';
import { hostname } from 'node:os';
import type { Clock } from '../core/clock.js';
import {
  LockClientClosedError,
  LockConnectionError,
  LockTimeoutError,
} from '../core/errors/index.js';
import { settleWithin } from '../core/internal/timers.js';
import { WaitScope } from '../core/internal/wait-scope.js';
import { untilConnected } from './nodes/node-requests.js';
import type { RecipeContext, ZooKeeperLockClientSettings } from './recipe-context.js';

/** Longest wait for the name service in ms; the data is only for inspection of the nodes. */
const PATIENCE = 1_000;

/** Longest wait in ms for the end of a connection that was not made in time: a silent server does not hang up. It is ended all the same. */
const LONGEST_PARTING = 100;

/** Address of this host as text, which is the data of lock nodes as in Curator; empty if the name does not resolve in time. */
async function localAddress(clock: Clock): Promise<Buffer> {
  let data = Buffer.alloc(0);
  const found = lookup(hostname()).then(
    ({ address }) => void (data = Buffer.from(address)),
    () => {},
  );
  await settleWithin(PATIENCE, clock, found);
  return data;
}

const isOpen = ({ accepts }: RecipeContext) => accepts !== 'none';

/**
 * Connects a client; resolves when requests can be sent.
 *
 * Rejects with `LockConnectionError` after `connectTimeout`, with `LockClientClosedError` when the client closes.
 *
 * @param close closes the client, as one that could not connect never will: what waits for it would wait for ever
 */
export async function connectToZooKeeper(
  settings: ZooKeeperLockClientSettings,
  context: RecipeContext,
  close: (timeout: number) => Promise<void>,
): Promise<void> {
  const { name, connection, events, clock, connectTimeout, nodeData, worker } = settings;
  if (context.accepts !== 'all') throw new LockClientClosedError({ client: name });
  const wait = new WaitScope(
    { client: name, clock, open: context.waits },
    { wait: connectTimeout },
  );
  let lastReason = 'no server has answered';
  const stop = events.on('connection', ({ reason }) => (lastReason = reason));
  try {
    connection.start();
    await untilConnected(connection, wait);
    context.nodeData = nodeData ?? (await localAddress(clock));
    await worker?.start(connection);
    if (!isOpen(context)) throw new LockClientClosedError({ client: name });
  } catch (cause) {
    stop(); // the state change of the close must not replace `lastReason`
    wait.end(); // it would be waited for
    await close(LONGEST_PARTING);
    if (!(cause instanceof LockTimeoutError)) throw cause;
    throw new LockConnectionError(
      `Lock client "${name}" could not connect within ${connectTimeout} ms (${lastReason}). Check \`connect\` and that the servers run, or raise \`connectTimeout\`.`,
      { client: name, cause },
    );
  } finally {
    stop();
    wait.end();
  }
}

/** Ends the session and the worker thread of a client; waits for that for `ms` at most. */
export async function disconnectFromZooKeeper(
  { connection, worker, clock }: ZooKeeperLockClientSettings,
  ms: number,
): Promise<void> {
  await settleWithin(ms, clock, Promise.all([worker?.close(), connection.close()]));
}
