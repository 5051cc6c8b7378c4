import type { Script } from '../connection/script.js';

/** One command of a lock. */
export interface LockCommand {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
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

/** What differs between the locks of this backend: their scripts, and the names on the server. */
export interface LockCommands {
  /** The key of the lock. */
  readonly raw: string;
  /** What it is held as. */
  readonly kind: 'alone' | 'write' | 'read';
  /**
   * Does one holder keep all others of this process out, and is who came first not served first anyway? Then they wait for
   * it in a line of their own, without asking the server.
   */
  readonly isLined: boolean;
  /** How long a waiter may stay silent, in ms; else it is taken for dead. */
  readonly silence: number;
  /** Does it leave something on the server while it waits? */
  readonly queues: boolean;
  /** Where who waits is woken. */
  channelOf(holder: string): string;
  /** The field of the holder in the hash of the lock. */
  fieldOf(holder: string): string;
  /** The key of that hold; the lock itself where there is none. */
  holdOf(holder: string): string;
  /** Answers `[1, token or 0]` when it was granted, else `[0, ms after which to ask again]`; -1: when it is woken. */
  acquire(request: LockRequest): LockCommand;
  /** Answers how many were listening; ends the wait of a queue too. */
  release(holder: string): LockCommand;
}
