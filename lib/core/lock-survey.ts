import type { PlacedActivity } from './placed-activity.js';
import type { ReportExchange } from './report-exchange.js';
import type { SurveyedLock } from './surveyed-lock.js';

/** Property in which a client keeps its survey; the same in all copies of this package. */
export const LOCK_SURVEY: unique symbol = Symbol.for('nestjs-interlock:survey');

/** What is known already about the locks of a survey. */
export interface KnownLocks {
  /** Names on the servers. */
  readonly names: ReadonlySet<string>;
  /** Ids of holders: what they have is not queued for. */
  readonly held: ReadonlySet<string>;
  /** Most locks to look at. */
  readonly limit: number;
  /** Most keys of a server to look at for locks that nobody knows of. */
  readonly scan: number;
}

/** What an operator can see of the locks of a client on its servers, whoever has them. It takes no lock. */
export interface LockSurvey {
  /** The name of that lock on the servers. */
  nameOf(key: string): string;
  /** The key of a lock of that name. */
  keyOf(name: string): string;
  /** What this client is at. */
  activity(): PlacedActivity[];
  /** The locks that are held or queued for. Rejects when the servers do not answer. */
  locks(known: KnownLocks): Promise<{ locks: SurveyedLock[]; omitted: number }>;
  /**
   * Takes the lock from the holder with these ids; resolves to whether it had it. A holder of this process is told at once,
   * others as the backend does.
   */
  release(name: string, ids: readonly string[]): Promise<boolean>;
  /** A new way to other processes on the same servers. */
  exchange(): ReportExchange;
}
