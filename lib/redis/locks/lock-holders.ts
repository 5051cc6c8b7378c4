import { hostname } from 'node:os';
import type { Clock } from '../../core/clock.js';
import type { OrderedSet } from '../../core/collections/ordered-set.js';
import type { ClientHold } from '../../core/internal/hold.js';
import type { KeptLock } from '../../core/kept-lock.js';
import type { LockHolder } from '../../core/lock-holder.js';
import type { LockName } from '../connection/lock-name.js';
import type { RedisConnection } from '../connection/redis-connection.js';

/** End of the field of a writer. */
const WRITER = ':write';

/** The ids of one client's holders: one object for the client, so that no id is given out twice. */
export interface HolderIds {
  /** UUID of the client, with which they begin. */
  readonly client: string;
  /** Number of the last one. */
  last: number;
}

/** Creates the id of a holder, `<uuid of the client>:<number>`, never the same twice. */
export function newHolder(ids: HolderIds): string {
  return `${ids.client}:${(ids.last += 1)}`;
}

/** What a client has on its servers. */
interface Owner {
  readonly connection: RedisConnection;
  readonly clock: Clock;
  readonly holds: OrderedSet<ClientHold>;
  readonly kept: OrderedSet<KeptLock>;
  readonly holderIds: HolderIds;
}

const US = JSON.stringify({ host: hostname(), pid: process.pid });

/** What a holder says that may keep the lock for its next caller. */
const KEEPS = ',"keeps":true';

/** JSON that describes this process and the requesting method to an operator, and to waiters whether the lock may be kept. */
export function holderInfo(method?: string, keeps = false): string {
  const asked = method === undefined ? '' : `,"method":${JSON.stringify(method)}`;
  return `${US.slice(0, -1)}${asked}${keeps ? KEEPS : ''},"since":${Date.now()}}`;
}

/** Whether a holder says of itself that it may keep the lock. */
export function mayKeep(about: unknown): boolean {
  return typeof about === 'string' && about.includes(KEEPS);
}

/** Resolves to the current holders of a lock of any kind. Rejects as ioredis does. */
export async function readHolders(
  connection: RedisConnection,
  name: LockName,
): Promise<LockHolder[]> {
  const flat = (await connection.read('hgetall', name.redisKey)) as
    string[] | Record<string, string>;
  return await holdersIn(
    connection,
    name,
    Array.isArray(flat) ? flat : Object.entries(flat).flat(),
  );
}

/** The same, with the present callers of what this client has handed on; the server knows the first ones. */
export async function presentHolders(client: Owner, name: LockName): Promise<LockHolder[]> {
  const holders = await readHolders(client.connection, name);
  return holders.map((holder) => ({ ...holder, ...presentCaller(client, name, holder.id) }));
}

function presentCaller(
  { holds, kept, clock, holderIds }: Owner,
  { redisKey }: LockName,
  holder: string,
): Pick<LockHolder, 'method' | 'since'> | undefined {
  if (!holder.startsWith(`${holderIds.client}:`)) return undefined;
  for (const { identity, isLive, backend, subject, heldSince } of holds.walk()) {
    if (identity.name !== redisKey || !isLive || !backend.handOffs) continue;
    if (!backend.holders.includes(holder)) continue;
    return { method: subject.method, since: new Date(Date.now() - (clock.now() - heldSince)) };
  }
  for (const lock of kept.walk()) if (lock.identity.name === redisKey) return { method: undefined };
  return undefined;
}

/** The holders in the hash of a lock: its fields, each followed by its value. Rejects as ioredis does. */
export async function holdersIn(
  connection: RedisConnection,
  name: LockName,
  fieldsAndValues: readonly string[],
): Promise<LockHolder[]> {
  const fields = new Map(pairs(fieldsAndValues));
  const about = fields.get('nestjs-interlock');
  const isReadWrite = fields.has('mode');
  const ids = [...fields.keys()].filter(
    (field) => field !== 'mode' && field !== 'nestjs-interlock',
  );
  const holders = await Promise.all(
    ids.map(async (field): Promise<LockHolder | undefined> => {
      if (!isReadWrite) return holderOf(field, about, false);
      const text = await connection.read('get', name.hold(field));
      const holder = holderOf(field, text, true);
      // A reader's field remains after its lease as long as there are other readers.
      return text === null && holder.mode === 'read' ? undefined : holder;
    }),
  );
  return holders.filter((holder) => holder !== undefined);
}

function pairs(flat: readonly string[]): [string, string][] {
  return flat.flatMap((field, i) =>
    i % 2 === 0 ? [[field, flat[i + 1]!] as [string, string]] : [],
  );
}

/**
 * The holder with that field in the hash of a lock.
 *
 * @param about what it has written about itself, if anything
 */
export function holderOf(field: string, about: unknown, isReadWrite: boolean): LockHolder {
  if (!isReadWrite) return { id: field, mode: 'alone', ...read(about) };
  const isWriter = field.endsWith(WRITER);
  const id = isWriter ? field.slice(0, -WRITER.length) : field;
  return { id, mode: isWriter ? 'write' : 'read', ...read(about) };
}

/** Parses what holders of this library have written; Redisson's holders have nothing or a number there. */
function read(text: unknown): Partial<LockHolder> {
  if (typeof text !== 'string' || !text.startsWith('{')) return {};
  try {
    const { host, pid, method, since } = JSON.parse(text) as Record<string, unknown>;
    return {
      host: typeof host === 'string' ? host : undefined,
      pid: typeof pid === 'number' ? pid : undefined,
      method: typeof method === 'string' ? method : undefined,
      since: isTime(since) ? new Date(since) : undefined,
    };
  } catch {
    return {};
  }
}

/** Whether a date can be made of it. */
const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Math.abs(value) <= 8.64e15;
