import type { QueuedActivity } from './internal/client-activity.js';

/** A holder or waiter of a lock, as seen on the servers. */
export interface ObservedParty {
  /** Server-side ids: a path on ZooKeeper, the id of a holder or a permit on Redis. One id for each permit. */
  readonly ids: readonly string[];
  readonly state: 'held' | 'waiting';
  /** Mode of a read/write lock. */
  readonly mode?: 'read' | 'write';
  readonly host?: string;
  readonly pid?: number;
  readonly method?: string;
  /** Time of arrival, in ms since 1970. */
  readonly since?: number;
  /** Data of its node; with Curator the address of the host. */
  readonly data?: string;
  readonly fencingToken?: string;
}

/** A lock on the servers that has a holder or a queue. */
export interface ObservedLock {
  /** Name on the servers; on ZooKeeper the path. */
  readonly name: string;
  readonly kind: 'mutex' | 'read/write lock' | 'semaphore' | 'leader latch';
  /** Holders, then the waiters in queue order. */
  readonly parties: readonly ObservedParty[];
}

/** Exchange of reports between processes on the same servers, at the request of one of them. */
export interface PeerReports {
  /** Starts to answer requests, each with the result of `report` at that time. */
  answer(report: () => string): void;
  /** Resolves to the answers of the other processes within `timeout` ms. Rejects when the servers do not allow the request. */
  ask(timeout: number): Promise<string[]>;
  /** Stops answering, and removes what it has left on the servers. Never rejects. */
  close(): Promise<void>;
}

/** Property of a client that holds its `LockInspection`; the same in all copies of this package. */
export const LOCK_INSPECTION: unique symbol = Symbol.for('nestjs-interlock:survey');

/** What an inspection knows already about the locks, and its limits. */
export interface KnownLocks {
  /** Names of known locks on the servers. */
  readonly names: ReadonlySet<string>;
  /** Ids of known holders: these hold, so they are not in a queue. */
  readonly held: ReadonlySet<string>;
  /** Maximum number of locks to read. */
  readonly limit: number;
  /** Maximum number of keys of a server to scan for unknown locks. */
  readonly scan: number;
}

/** Operator's view of the locks on the servers of a client, held by any client. It acquires no lock. */
export interface LockInspection {
  /** Name on the servers of the lock with this key. */
  nameOf(key: string): string;
  /** Key of the lock with this name. */
  keyOf(name: string): string;
  /** Held locks and waiting acquires of this client. */
  activity(): QueuedActivity[];
  /** The locks that have a holder or a queue. Rejects when the servers do not answer. */
  locks(known: KnownLocks): Promise<{ locks: ObservedLock[]; omitted: number }>;
  /**
   * Takes the lock from the holder with these ids; resolves to whether it was held. A holder of this process is notified at
   * once, a holder of another process learns of it in the backend's way.
   */
  release(name: string, ids: readonly string[]): Promise<boolean>;
  /** Creates a new exchange with other processes on the same servers. */
  exchange(): PeerReports;
}
