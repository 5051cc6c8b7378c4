import type { HandOff, Lock } from '../../../../lib/core/lock.js';
import { LockName } from '../../../../lib/redis/connection/lock-name.js';
import type { RedisLease } from '../../../../lib/redis/locks/redis-lease.js';
import type { RedisLockClient } from '../../../../lib/redis/redis-lock-client.js';
import type { Keyspace } from '../../../../lib/testing/redis/server/keyspace.js';

/** What users ask for: a lock, or several as one. */
export interface AskedLock {
  readonly title: string;
  of(client: RedisLockClient): Lock;
  /** Whether an acquire would be granted, whatever it is. */
  isFree(keyspace: Keyspace): boolean;
  /** The locks of which it consists; a lock itself. */
  readonly parts: readonly ObservedLock[];
  /** What its holder may ask for in its scope, and gets without waiting for itself. */
  readonly inside: readonly AskedLock[];
}

/** A lock of the world, as users ask for it, and as it stands on the server. */
export interface ObservedLock extends AskedLock {
  /** Locks of one name exclude each other, as far as their shares say. */
  readonly name: LockName;
  readonly isFenced: boolean;
  /** Whether it serves its waiters in their order. */
  readonly isFair: boolean;
  /** Whether a client may keep it although no user has it. */
  readonly mayBeKept?: boolean;
  /** How much of the lock one hold takes, of 1. */
  readonly share: number;
  /** How much of it the server has left, of 1, if it counts that. */
  free?(keyspace: Keyspace): number;
  /** Until when the server keeps the hold, in ms since 1970; `undefined`: it does not know it. */
  endOf(keyspace: Keyspace, lease: RedisLease): number | undefined;
}

/** Until when the hash of a lock lives, if it has that field. */
function endOfField(keyspace: Keyspace, key: string, field: string): number | undefined {
  const entry = keyspace.entry(key);
  return entry?.type === 'hash' && entry.value.has(field) ? entry.expiresAt : undefined;
}

export function mutex(
  key: string,
  kind: 'fenced' | 'plain' | 'fair' | 'semaphore' | 'spin' | 'handed on' | 'kept' = 'fenced',
): ObservedLock {
  const isFenced = kind === 'fenced' || kind === 'fair' || kind === 'semaphore';
  const handOff = { atMost: 4, for: 8_000, ...(kind === 'kept' && { keep: 4_000 }) };
  const isHandedOn = kind === 'handed on' || kind === 'kept';
  const options = isHandedOn ? { handOff } : { fair: kind === 'fair', fenced: isFenced };
  return {
    title: `${kind} mutex ${key}`,
    name: new LockName(key),
    isFenced,
    isFair: kind === 'fair',
    mayBeKept: kind === 'kept',
    share: 1,
    of(client) {
      if (kind === 'spin') return client.spinLock(key);
      return kind === 'semaphore'
        ? client.semaphoreMutex(key, options)
        : client.mutex(key, options);
    },
    endOf: (keyspace, { holder }) => endOfField(keyspace, key, holder),
    isFree: (keyspace) => keyspace.entry(key) === undefined,
    get parts() {
      return [this];
    },
    get inside() {
      return [this];
    },
  };
}

/** Any number of readers have less than all. */
const SHARE_OF_READER = 1e-3;

/** @param handOff bounds within which callers of a client share the read lock. Default: never */
export function readWriteLock(
  key: string,
  preferWriters = false,
  handOff?: HandOff,
): [read: ObservedLock, write: ObservedLock] {
  const name = new LockName(key);
  const half = (mode: 'read' | 'write'): ObservedLock => ({
    title: `${mode} lock ${key}`,
    name,
    isFenced: mode === 'write',
    isFair: false,
    share: mode === 'write' ? 1 : SHARE_OF_READER,
    of(client) {
      const lock = client.readWriteLock(key, { preferWriters, handOff });
      return mode === 'write' ? lock.writeLock() : lock.readLock();
    },
    endOf(keyspace, { holder }) {
      const field = mode === 'write' ? `${holder}:write` : holder;
      const end = endOfField(keyspace, key, field);
      const hold = keyspace.entry(name.hold(field));
      return end === undefined || hold === undefined ? undefined : Math.min(end, hold.expiresAt);
    },
    isFree: (keyspace) => keyspace.entry(key) === undefined,
    get parts() {
      return [this];
    },
    get inside() {
      return mode === 'write' ? [read, read, this] : [this];
    },
  });
  const read = half('read');
  return [read, half('write')];
}

/** Plain mutexes as one. */
export function multiLock(parts: readonly ObservedLock[]): AskedLock {
  return {
    title: `multi-lock of ${parts.map(({ title }) => title).join(' and ')}`,
    of: (client) => client.multiLock(parts.map((part) => part.of(client))),
    isFree: (keyspace) => parts.every((part) => part.isFree(keyspace)),
    parts,
    get inside() {
      return [...parts, this];
    },
  };
}

export function semaphore(key: string, permits: number, fair: boolean): ObservedLock {
  const name = new LockName(key);
  const deadlines = (keyspace: Keyspace) => keyspace.read(name.permitTimeouts, 'zset');
  return {
    title: `${fair ? 'fair ' : ''}permit of ${key}`,
    name,
    isFenced: false,
    isFair: fair,
    share: 1 / permits,
    of: (client) => client.semaphore(key, { permits, fair }),
    endOf(keyspace, { permitIds }) {
      const ends = permitIds.map((id) =>
        deadlines(keyspace)?.score(Buffer.from(id, 'hex').toString('latin1')),
      );
      return ends.includes(undefined) ? undefined : Math.min(...(ends as number[]));
    },
    isFree(keyspace) {
      const now = { score: keyspace.now(), isExclusive: true };
      const held = deadlines(keyspace)?.between(now, { score: Infinity, isExclusive: false });
      return (held?.length ?? 0) < permits;
    },
    get parts() {
      return [this];
    },
    inside: [],
  };
}
