import type { ObservedLock, ObservedParty } from '../../core/lock-inspection.js';
import type { RedisArgument } from '../connection/ioredis.js';
import type { LockName } from '../connection/lock-name.js';
import type { RedisConnection } from '../connection/redis-connection.js';
import { isNoScript } from '../connection/redis-error.js';
import { holdersIn } from '../locks/lock-holders.js';
import { lockView, permitHolders } from '../scripts/index.js';

/** Maximum number of queue entries, and of permits, that are read. */
const MOST = 200;

/** A hash with more fields than this is not read: the name may come from another process, and be that of anything. */
const MOST_HOLDERS = 5_000;

/** Holder ids in the format of this library and Redisson. */
export const HOLDER = /^[\da-f-]{36}:\d+(:write)?$/;

/** What stands under the name of a lock; without waiters and fields if it is something else. */
type LockView = readonly [
  type: string,
  waiters?: readonly string[],
  fieldsAndValues?: readonly string[],
];

/**
 * The lock of that name; `undefined` if it has no holder and no queue on the server, or if the key is not a lock. One command,
 * as an inspector reads hundreds of locks: more for a read/write lock, and for a semaphore.
 */
export async function readLockKey(
  connection: RedisConnection,
  name: LockName,
): Promise<ObservedLock | undefined> {
  const [type, waiters, fields = []] = await viewOf(connection, name);
  if (waiters === undefined) return undefined;
  const isSemaphore = type === 'string';
  const holders = isSemaphore
    ? await permitsOf(connection, name)
    : await partiesOf(connection, name, fields);
  if (type === 'hash' && !holders.every(({ ids }) => HOLDER.test(ids[0]!))) return undefined;
  const queue = waiters.map((id): ObservedParty => ({ ids: [id], state: 'waiting' }));
  const parties = [...holders, ...queue];
  if (parties.length === 0) return undefined;
  const isReadWrite = holders.some(({ mode }) => mode !== undefined);
  const kind = isSemaphore ? 'semaphore' : isReadWrite ? 'read/write lock' : 'mutex';
  return { name: name.redisKey, kind, parties };
}

/** Not by `connection.run`, which expects numbers, and takes an error for one of the locks. */
async function viewOf(connection: RedisConnection, name: LockName): Promise<LockView> {
  const { redisKey, queue, permitQueue } = name;
  const operands: RedisArgument[] = [3, redisKey, queue, permitQueue, MOST_HOLDERS, MOST];
  try {
    return (await connection.read('evalsha', lockView.sha1, ...operands)) as LockView;
  } catch (error) {
    if (!isNoScript(error)) throw error;
    return (await connection.read('eval', lockView.source, ...operands)) as LockView;
  }
}

async function partiesOf(
  connection: RedisConnection,
  name: LockName,
  fieldsAndValues: readonly string[],
): Promise<ObservedParty[]> {
  const holders = await holdersIn(connection, name, fieldsAndValues);
  return holders.map(({ id, mode, host, pid, method, since }) => ({
    ids: [id],
    state: 'held',
    mode: mode === 'alone' ? undefined : mode,
    host: textOf(host),
    pid: Number.isSafeInteger(pid) ? pid : undefined,
    method: textOf(method),
    since: Number.isFinite(since?.getTime()) ? since!.getTime() : undefined,
  }));
}

/** Maximum number of characters shown of what a holder reports about itself. */
const SHOWN = 200;

/** What stands there was written by the holder, and may be anything. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, SHOWN) : undefined;
}

/** The ids of all permits of one holder of this library begin with the same 12 bytes. */
async function permitsOf(connection: RedisConnection, name: LockName): Promise<ObservedParty[]> {
  const answer = await connection.run(permitHolders, [name.permitTimeouts], [MOST]);
  const ids = (answer as number[][]).map((words) =>
    words.map((word) => word.toString(16).padStart(8, '0')).join(''),
  );
  return ids.map((id) => ({ ids: [id], state: 'held' }));
}
