import type { RedisArgument } from '../connection/ioredis.js';
import type { LockName } from '../connection/lock-name.js';
import type { RedisConnection } from '../connection/redis-connection.js';
import type { Script } from '../connection/script.js';
import type { BackOff } from './back-off.js';

/** One command of a lock. */
export interface LockCommand {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args: readonly RedisArgument[];
}

/** Owner and terms of an acquire. */
export interface LockRequest {
  /** Owner of the hold: unique per acquire, so that a command sent twice does not count twice. */
  readonly holder: string;
  /** Length of the lease, in ms. */
  readonly lease: number;
  /** JSON that describes the owner to an operator. */
  readonly about: string;
  /** Whether the acquire waits if others are ahead. */
  readonly mayWait: boolean;
  /** Whether the lock may be handed on. Default: not. */
  readonly isHandedOn?: boolean;
}

/**
 * The answer to an acquire: 1 and the token or 0 if granted; else 0, the ms after which to ask again, for several locks the
 * index of the taken one, 1 if the waiter is registered to be woken alone, and, where known, the field of a holder and what it says about itself, 512 bytes at most; a number if it looks like one.
 */
export type Answer = [
  isGranted: number,
  value: number,
  taken?: number,
  isRegistered?: number,
  ...holder: (string | number)[],
];

/** What differs between the things that an acquire waits for: the acquire script, and the names on the server. */
export interface AcquireCommands {
  /** The key of the lock. */
  readonly redisKey: string;
  /** If given, a waiter asks again after these delays instead of being woken. */
  readonly backOff?: BackOff | undefined;
  /** How long a waiter may stay silent before it counts as dead, in ms. */
  readonly maxSleep: number;
  /** Whether a waiter leaves an entry on the server while it waits. */
  readonly leavesQueueEntry: boolean;
  /**
   * Channel on which the waiter is woken; for several locks, `taken` is the index of the taken one.
   *
   * @param isRegistered whether it is woken alone, on a channel of its own, if the lock has both
   */
  channelOf(holder: string, taken: number, isRegistered: boolean): string;
  /** Channel to subscribe to before that one, if the lock may be handed on; see `LockName.handingOn`. */
  markerOf?(channel: string): string | undefined;
  /**
   * Its answer is an `Answer`, in which -1 for the time means: when woken.
   *
   * @param waited how long the acquire has waited so far, in ms
   * @param taken for several locks, the index of the one that was taken by the last answer; -1 before that
   */
  acquire(request: LockRequest, waited: number, taken: number): LockCommand;
  /** Called with each answer, if the next request must not count as a repetition of the same one. */
  answered?(isGranted: boolean): void;
}

/** Commands of a lock of this backend. */
export interface LockCommands extends AcquireCommands {
  /** Mode in which the lock is held. */
  readonly kind: 'alone' | 'write' | 'read' | 'permits';
  /**
   * Which acquires of this process queue locally, so that only the first asks the server: `exclusive`, if one holder keeps
   * all others out, up to its release; `shared`, if those that come meanwhile share its hold; `waiters` only, if there is room for
   * many holders; `queue`, if the server keeps the order, where the first few ask; or `none`.
   */
  readonly localQueue: 'exclusive' | 'shared' | 'waiters' | 'queue' | 'none';
  /** Field of the holder in the hash of the lock. */
  fieldOf(holder: string): string | Buffer;
  /** Keys of a renewal: the lock and the key of that hold; the lock twice if there is no such key. */
  renewalKeys(holder: string): readonly [string, string];
  /** Key that marks the holder as gone, so that a late copy of its acquire acquires nothing. */
  tombstoneOf(holder: string): string;
  /**
   * Answers the number of subscribers that were listening; also ends the wait in a queue.
   *
   * @param tombstone key to leave if a copy of the acquire may follow; else ''
   */
  release(holder: string, tombstone: string): LockCommand;
  /** Answers 1 or 0, whether others wait for the lock, and how many of them hand nothing on; only of locks that may be handed on. */
  wanted?(): LockCommand;
  /** Answers the next fencing token, or nothing if the holder does not hold the lock. */
  token(holder: string): LockCommand;
}

interface ClientOfWaiters {
  readonly connection: Pick<RedisConnection, 'isCluster' | 'publishCommand'>;
  readonly watchdogTimeout: number;
}

/**
 * Key of the waiters of a lock; '' where none are registered: a release counts the receivers of a message, and in a cluster
 * without sharded channels some may be subscribed at other nodes. Known once the client is connected.
 */
export function waitersOf(
  { connection }: Pick<ClientOfWaiters, 'connection'>,
  name: LockName,
): string {
  const counts = !connection.isCluster || connection.publishCommand === 'spublish';
  return counts ? name.waiters : '';
}

/** What an acquire that waits says of it: for how long so far, its longest sleep (ms), and the key of the waiters of each lock. */
export function waitTerms(
  context: ClientOfWaiters,
  names: readonly LockName[],
  waited: number,
): RedisArgument[] {
  const waiters = names.map((name) => waitersOf(context, name));
  return waiters[0] === '' ? [] : [waited, context.watchdogTimeout, ...waiters];
}
