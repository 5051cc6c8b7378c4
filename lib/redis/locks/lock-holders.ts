import { hostname } from 'node:os';
import type { LockName } from '../connection/lock-name.js';
import type { RedisConnection } from '../connection/redis-connection.js';

/** Holder of a lock, as shown to an operator. */
export interface LockHolder {
  /** Id of the owner on the server: `<uuid of the client>:<number>`, for Redisson `<uuid>:<thread id>`. */
  readonly id: string;
  readonly mode: 'alone' | 'write' | 'read';
  /** Name of the host. This and the following fields are set for holders of this library only. */
  readonly host?: string | undefined;
  /** Process id. */
  readonly pid?: number | undefined;
  /** Class and method of a decorated method, or the `method` that was given to the acquire. */
  readonly method?: string | undefined;
  /** When the holder requested the lock, by the clock of its host. */
  readonly since?: Date | undefined;
}

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

const US = JSON.stringify({ host: hostname(), pid: process.pid });

/** JSON that describes this process and the requesting method to an operator. */
export function holderInfo(method?: string): string {
  const asked = method === undefined ? '' : `,"method":${JSON.stringify(method)}`;
  return `${US.slice(0, -1)}${asked},"since":${Date.now()}}`;
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
      if (!isReadWrite) return { id: field, mode: 'alone', ...read(about) };
      const text = await connection.read('get', name.hold(field));
      if (field.endsWith(':write'))
        return { id: field.slice(0, -':write'.length), mode: 'write', ...read(text) };
      if (text === null) return undefined; // its lease has expired; the field remains as long as there are other readers
      return { id: field, mode: 'read', ...read(text) };
    }),
  );
  return holders.filter((holder) => holder !== undefined);
}

function pairs(flat: readonly string[]): [string, string][] {
  return flat.flatMap((field, i) =>
    i % 2 === 0 ? [[field, flat[i + 1]!] as [string, string]] : [],
  );
}

/** Parses what holders of this library have written; Redisson's holders have nothing or a number there. */
function read(text: unknown): Partial<LockHolder> {
  if (typeof text !== 'string' || !text.startsWith('{')) return {};
  try {
    const { host, pid, method, since } = JSON.parse(text) as Record<string, never>;
    return { host, pid, method, since: new Date(since!) };
  } catch {
    return {};
  }
}
