import type { RedisArgument } from '../connection/ioredis.js';
import type { Script } from '../connection/script.js';
import type { BackOff } from './back-off.js';

/** One command of a lock. */
export interface LockCommand {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args: readonly RedisArgument[];
}

/** Who asks, and for what. */
export interface LockRequest {
  /** Owner of the hold: unique for each acquire, so that a command sent twice does not count twice. */
  readonly holder: string;
  /** In ms. */
  readonly lease: number;
  /** JSON that tells an operator who it is. */
  readonly about: string;
  /** Will it wait, where others are ahead? */
  readonly mayWait: boolean;
}

/** What differs between things that are waited for: the script that asks, and the names on the server. */
export interface AcquireCommands {
  /** The key of the lock. */
  readonly redisKey: string;
  /** Asks again after these delays instead of being woken, where given. */
  readonly backOff?: BackOff;
  /** How long a waiter may stay silent, in ms; else it is taken for dead. */
  readonly maxSleep: number;
  /** Does it leave something on the server while it waits? */
  readonly leavesQueueEntry: boolean;
  /** Where who waits is woken; of many locks, when that one was taken. */
  channelOf(holder: string, taken: number): string;
  /**
   * Answers `[1, token or 0]` when it was granted, else `[0, ms after which to ask again]`, -1: when it is woken; of many
   * locks which one was taken, too.
   */
  acquire(request: LockRequest): LockCommand;
  /** Called with each answer, where the next question must not be taken for the same. */
  answered?(isGranted: boolean): void;
}

/** The same of the locks of this backend. */
export interface LockCommands extends AcquireCommands {
  /** What it is held as. */
  readonly kind: 'alone' | 'write' | 'read' | 'permits';
  /**
   * Who of this process stands in a line, where only the first asks the server: its `exclusive`, where one holder keeps all
   * others out, up to the release; its `waiters`, where there is room for many; its `queue`, where the server keeps the
   * order, of which the first few ask; or `none`.
   */
  readonly localQueue: 'exclusive' | 'waiters' | 'queue' | 'none';
  /** The field of the holder in the hash of the lock. */
  fieldOf(holder: string): string | Buffer;
  /** What a renewal needs: the lock and the key of that hold; the lock twice where there is none. */
  renewalKeys(holder: string): readonly [string, string];
  /** The key that says that the holder has gone, so that a late copy of its acquire takes nothing. */
  tombstoneOf(holder: string): string;
  /**
   * Answers how many were listening; ends the wait of a queue too.
   *
   * @param tombstone to be left, where a copy of the acquire may follow; else ''
   */
  release(holder: string, tombstone: string): LockCommand;
  /** Answers the next fencing token, or nothing when it does not hold. */
  token(holder: string): LockCommand;
}
