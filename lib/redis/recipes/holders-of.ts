import type { LockName } from '../connection/lock-name.js';
import type { RedisConnection } from '../connection/redis-connection.js';
import type { LockHolder } from './lock-holder.js';

/** Who holds that lock now, whatever its kind. Rejects as ioredis does. */
export async function holdersOf(
  connection: RedisConnection,
  name: LockName,
): Promise<LockHolder[]> {
  const flat = (await connection.read('hgetall', name.raw)) as string[] | Record<string, string>;
  const fields = new Map(Array.isArray(flat) ? pairs(flat) : Object.entries(flat));
  const about = fields.get('nestjs-interlock');
  const isReadWrite = fields.has('mode');
  const ids = [...fields.keys()].filter(
    (field) => field !== 'mode' && field !== 'nestjs-interlock',
  );
  return Promise.all(
    ids.map(async (field) => {
      const text = isReadWrite ? await connection.read('get', name.hold(field)) : about;
      const isWriter = field.endsWith(':write');
      const mode = !isReadWrite ? 'alone' : isWriter ? 'write' : 'read';
      return { id: isWriter ? field.slice(0, -':write'.length) : field, mode, ...read(text) };
    }),
  );
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
