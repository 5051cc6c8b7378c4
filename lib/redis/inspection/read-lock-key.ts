import type { SurveyedLock, SurveyedParty } from '../../core/lock-inspection.js';
import type { LockName } from '../connection/lock-name.js';
import type { RedisConnection } from '../connection/redis-connection.js';
import { holdersOf } from '../recipes/holders-of.js';
import { permitHolders } from '../scripts/permit-holders.js';

/** Most places of a queue, and most permits, that are read. */
const MOST = 200;

/** The lock of that name; nothing when nobody holds it or queues on the server, or when it is none. */
export async function readLockKey(
  connection: RedisConnection,
  name: LockName,
): Promise<SurveyedLock | undefined> {
  const type = await connection.read('type', name.raw);
  if (type !== 'hash' && type !== 'string' && type !== 'none') return undefined;
  const isSemaphore = type === 'string';
  const [holders, waiters] = await Promise.all([
    isSemaphore ? permitsOf(connection, name) : partiesOf(connection, name),
    connection.read('lrange', isSemaphore ? name.permitQueue : name.queue, 0, MOST - 1),
  ]);
  const queue = (waiters as string[]).map((id): SurveyedParty => ({ ids: [id], state: 'waiting' }));
  const parties = [...holders, ...queue];
  if (parties.length === 0) return undefined;
  const isReadWrite = holders.some(({ mode }) => mode !== undefined);
  const kind = isSemaphore ? 'semaphore' : isReadWrite ? 'read/write lock' : 'mutex';
  return { name: name.raw, kind, parties };
}

async function partiesOf(connection: RedisConnection, name: LockName): Promise<SurveyedParty[]> {
  const holders = await holdersOf(connection, name);
  return holders.map(({ id, mode, host, pid, method, since }) => ({
    ids: [id],
    state: 'held',
    mode: mode === 'alone' ? undefined : mode,
    host,
    pid,
    method,
    since: since?.getTime(),
  }));
}

/** The permits of one holder of this library begin with the same 12 bytes. */
async function permitsOf(connection: RedisConnection, name: LockName): Promise<SurveyedParty[]> {
  const answer = await connection.run(permitHolders, [name.permitTimeouts], [MOST]);
  const ids = (answer as number[][]).map((words) =>
    words.map((word) => word.toString(16).padStart(8, '0')).join(''),
  );
  return ids.map((id) => ({ ids: [id], state: 'held' }));
}
