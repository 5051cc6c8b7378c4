import type { LockName } from '../../../../lib/redis/connection/lock-name.js';
import type { Keyspace } from '../../../../lib/testing/redis/server/keyspace.js';
import type { ObservedLock } from './observed-locks.js';

/** The holders of a lock by the keys of the server, and those that stand in its queue. Times are in ms since 1970, by the server. */
export interface Standing {
  /** The holders, with the ends of their leases. */
  readonly holders: ReadonlyMap<string, number>;
  /** The waiters in their order, with the time until which each counts as living. */
  readonly queue: ReadonlyMap<string, number>;
}

/** Called when a command has changed something. */
type OnChange = (lock: ObservedLock, before: Standing, after: Standing) => void;

const NOTHING: Standing = { holders: new Map(), queue: new Map() };

/** Keeps an eye on the keys of locks. */
export class Standings {
  readonly #last = new Map<ObservedLock, Standing>();

  /** @param locks one of each name */
  constructor(
    private readonly locks: readonly ObservedLock[],
    private readonly onChange: OnChange,
  ) {}

  /** The longest queue, in waiters. */
  get longestQueue(): number {
    return Math.max(0, ...[...this.#last.values()].map(({ queue }) => queue.size));
  }

  /** By the keys of the locks. */
  get all(): [key: string, Standing][] {
    return [...this.#last].map(([{ name }, standing]) => [name.redisKey, standing]);
  }

  /** A command has changed these keys. */
  changed(keys: ReadonlySet<string>, keyspace: Keyspace): void {
    for (const lock of this.locks) {
      const { redisKey, tagged } = lock.name;
      if (![...keys].some((key) => key === redisKey || key.includes(tagged))) continue;
      const before = this.#last.get(lock) ?? NOTHING;
      const after = standingOf(keyspace, lock.name);
      this.#last.set(lock, after);
      this.onChange(lock, before, after);
    }
  }

  /** The servers have forgotten the last changes. */
  lostData(keyspace: Keyspace): void {
    for (const lock of this.locks) this.#last.set(lock, standingOf(keyspace, lock.name));
  }
}

function standingOf(keyspace: Keyspace, name: LockName): Standing {
  const alive = keyspace.read(name.alive, 'zset');
  const waiters = [name.queue, name.permitQueue].flatMap((key) => keyspace.read(key, 'list') ?? []);
  return {
    holders: new Map([...holdersOf(keyspace, name), ...permitHoldersOf(keyspace, name)]),
    queue: new Map(waiters.map((waiter) => [shortened(waiter), alive?.score(waiter) ?? 0])),
  };
}

/** Fields of a lock that are no holders. */
const OTHERS = new Set(['mode', 'nestjs-interlock']);

function holdersOf(keyspace: Keyspace, name: LockName): [string, number][] {
  const entry = keyspace.entry(name.redisKey);
  if (entry?.type !== 'hash') return [];
  const isReadWrite = entry.value.has('mode');
  const endOf = (holder: string) =>
    isReadWrite ? (keyspace.entry(name.hold(holder))?.expiresAt ?? 0) : entry.expiresAt;
  const holders = [...entry.value.keys()].filter((field) => !OTHERS.has(field));
  return holders.map((holder) => [holder, endOf(holder)]);
}

function permitHoldersOf(keyspace: Keyspace, name: LockName): [string, number][] {
  const permits = keyspace.read(name.permitTimeouts, 'zset')?.slice(0, Infinity) ?? [];
  return permits.map(({ member, score }) => [
    shortened(Buffer.from(member, 'latin1').toString('hex')),
    score,
  ]);
}

/** Holders of permits have 12 bytes in common with their permits. */
const shortened = (holder: string) =>
  /^[0-9a-f]{32}$/.test(holder) ? holder.slice(0, 24) : holder;
