import { hostname } from 'node:os';
import type { LockName } from '../connection/lock-name.js';
import type { RedisConnection } from '../connection/redis-connection.js';

/** Who holds a lock, for an operator. */
export interface LockHolder {
  /** Owner on the server: `<uuid of the client>:<number>`, of Redisson `<uuid>:<thread id>`. */
  readonly id: string;
  readonly mode: 'alone' | 'write' | 'read';
  /** From here on only of holders of this library. Name of the host. */
  readonly host?: string;
  /** Process id. */
  readonly pid?: number;
  /** Class and method of a decorated method, or what was given to the acquire. */
  readonly method?: string;
  /** When it asked for the lock, by the clock of its host. */
  readonly since?: Date;
}

const US = JSON.stringify({ host: hostname(), pid: process.pid });

/** JSON that tells an operator who asks. */
export function holderInfo(method?: string): string {
  const asked = method === undefined ? '' : `,"method":${JSON.stringify(method)}`;
  return `${US.slice(0, -1)}${asked},"since":${Date.now()}}`;
}

/** Who holds that lock now, whatever its kind. Rejects as ioredis does. */
export async function readHolders(
  connection: RedisConnection,
  name: LockName,
): Promise<LockHolder[]> {
  const flat = (await connection.read('hgetall', name.redisKey)) as
    string[] | Record<string, string>;
  const fields = new Map(Array.isArray(flat) ? pairs(flat) : Object.entries(flat));
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
      if (text === null) return undefined; // its lease is over; the field stays as long as others read
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

/** What our holders have written; Redisson's have nothing or a number there. */
function read(text: unknown): Partial<LockHolder> {
  if (typeof text !== 'string' || !text.startsWith('{')) return {};
  try {
    const { host, pid, method, since } = JSON.parse(text) as Record<string, never>;
    return { host, pid, method, since: new Date(since!) };
  } catch {
    return {};
  }
}
