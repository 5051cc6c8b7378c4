import type { RedisLease } from '../../../lib/redis/locks/redis-lease.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import type {
  RedisPermitExpirableSemaphore,
  RedisPermitOptions,
} from '../../../lib/redis/semaphores/redis-permit-expirable-semaphore.js';
import { FOR_LATE_COPIES, type RedisServer } from '../../support/redis-server.js';

/** The permits of a semaphore in these tests. */
export const PERMITS = 3;

/** What a test takes on Redis: a lock, or permits of a semaphore. */
export interface Holdable {
  acquire(options?: RedisPermitOptions): Promise<RedisLease>;
  tryAcquire(options?: RedisPermitOptions): Promise<RedisLease | undefined>;
  using(work: () => unknown, options?: RedisPermitOptions): Promise<unknown>;
}

/** A kind of lock or semaphore that has scripts of its own. */
export interface Kind {
  readonly name: string;
  /** With permits, two of three are taken unless the test says how many: two holders exclude each other. */
  of(locks: RedisLockClient, key: string): Holdable;
  /** The keys that stay on the server when all is free. */
  kept(key: string): string[];
}

const lock = (name: string, of: Kind['of']): Kind => ({ name, of, kept: () => [] });

/** A kind of semaphore whose permits have leases. */
export interface SemaphoreKind extends Kind {
  semaphore(locks: RedisLockClient, key: string, permits?: number): RedisPermitExpirableSemaphore;
}

const permits = (name: string, fair: boolean): SemaphoreKind => {
  const semaphore: SemaphoreKind['semaphore'] = (locks, key, count = PERMITS) =>
    locks.semaphore(key, { permits: count, fair });
  return {
    name,
    semaphore,
    of: (locks, key) => {
      const all = semaphore(locks, key);
      return {
        acquire: (options) => all.acquire({ permits: 2, ...options }),
        tryAcquire: (options) => all.tryAcquire({ permits: 2, ...options }),
        using: (work, options) => all.using(work, { permits: 2, ...options }),
      };
    },
    kept: (key) => [key, `interlock_permits:{${key}}`],
  };
};

export const EXCLUSIVE_LOCKS: readonly Kind[] = [
  lock('mutex', (locks, key) => locks.mutex(key)),
  lock('fair mutex', (locks, key) => locks.mutex(key, { fair: true })),
  lock('fenced mutex', (locks, key) => locks.mutex(key, { fenced: true })),
  lock('write lock', (locks, key) => locks.readWriteLock(key).writeLock()),
];

export const LOCKS: readonly Kind[] = [
  ...EXCLUSIVE_LOCKS,
  lock('read lock', (locks, key) => locks.readWriteLock(key).readLock()),
];

export const SEMAPHORES = [permits('semaphore', false), permits('fair semaphore', true)] as const;

/** The kinds of which one holder keeps another one out. */
export const EXCLUSIVE_KINDS: readonly Kind[] = [...EXCLUSIVE_LOCKS, ...SEMAPHORES];

export const KINDS: readonly Kind[] = [...LOCKS, ...SEMAPHORES];

const permitsKey = (key: string) => `{${key}}:timeout`;

const PERMITS_SCRIPT = `
local ids = redis.call('zrange', KEYS[2], 0, -1)
for n, id in ipairs(ids) do
  ids[n] = id:gsub('.', function(byte) return string.format('%02x', byte:byte()) end)
end
local last = redis.call('zrange', KEYS[2], -1, -1, 'withscores')
return {redis.call('get', KEYS[1]), ids, last[2]}`;

/** Permits of one semaphore as the server has them. */
export interface ServerPermits {
  readonly free: number;
  /** Those included that have expired and that no client has fetched yet. */
  readonly taken: number;
  /** When the last of those comes back by itself, in ms since 1970. */
  readonly end: number;
}

async function readPermits(server: RedisServer, key: string) {
  const answer = await server.command('EVAL', PERMITS_SCRIPT, 2, key, permitsKey(key));
  const [free, ids, end] = answer as [string | null, string[], string?];
  return { free, ids, end };
}

/** What the server knows of the permits of that semaphore, all at one time. */
export async function permitsOf(server: RedisServer, key: string): Promise<ServerPermits> {
  const { free, ids, end } = await readPermits(server, key);
  return { free: Number(free), taken: ids.length, end: Number(end ?? 0) };
}

/** What the server knows a holder by: the permits of one lease have ids that begin alike. */
const PREFIX_OF_PERMITS = 24;
export const holderOf = ({ permitIds: [id], holder }: RedisLease): string =>
  id?.slice(0, PREFIX_OF_PERMITS) ?? holder;

const NO_HOLDERS = ['mode', 'nestjs-interlock'];

/** Who holds it by what the server has, each for every permit or entry that it has. */
export async function holdersOf(server: RedisServer, key: string): Promise<string[]> {
  if ((await server.command('TYPE', key)) === 'string') {
    const { ids } = await readPermits(server, key);
    return ids.map((id) => id.slice(0, PREFIX_OF_PERMITS));
  }
  const script = "return redis.call('hgetall', KEYS[1])"; // as a list
  const fields = (await server.command('EVAL', script, 1, key)) as string[];
  return fields.flatMap((field, n) => {
    if (n % 2 === 1 || NO_HOLDERS.includes(field)) return [];
    return Array.from({ length: Number(fields[n + 1]) }, () => field.replace(/:write$/, ''));
  });
}

/** What `holdersOf` says when that lease is the only one. */
export const onlyHolder = (lease: RedisLease): string[] =>
  Array.from({ length: Math.max(1, lease.permitIds.length) }, () => holderOf(lease));

/** Redis 6.2 has no `PEXPIRETIME`. */
export const EXPIRY_SCRIPT = `
local last = redis.call('zrange', KEYS[2], -1, -1, 'withscores')
if last[2] then return tonumber(last[2]) end
local exact = redis.pcall('pexpiretime', KEYS[1])
if type(exact) == 'number' then return exact end
local time = redis.call('time')
return time[1] * 1000 + math.floor(time[2] / 1000) + redis.call('pttl', KEYS[1])`;

/** The keys of that script. */
export const expiryKeys = (key: string) => [key, permitsKey(key)] as const;

/** When it would be free if it were not renewed, in ms since 1970. */
export async function expiryOf(server: RedisServer, key: string): Promise<number> {
  return Number(await server.command('EVAL', EXPIRY_SCRIPT, 2, ...expiryKeys(key)));
}

/**
 * The keys on that server, but for the counters of fencing tokens, which stay, and for what late copies are known by, which
 * ends by itself.
 */
export async function locksLeft(server: RedisServer): Promise<string[]> {
  const keys = (await server.command('KEYS', '*')) as string[];
  const others = keys.filter((name) => !name.startsWith('redisson_lock_token:'));
  const isLeft = others.map(
    async (name) => !FOR_LATE_COPIES.test(name) || (await server.command('PTTL', name)) === -1,
  );
  const left = await Promise.all(isLeft);
  return others.filter((_, i) => left[i]);
}
