import type { QueuedActivity } from './internal/client-activity.js';

/** Who holds a lock or queues for it, as the servers tell. */
export interface ObservedParty {
  /** What the servers know it by: a path on ZooKeeper, the id of a holder or a permit on Redis. Several permits, several ids. */
  readonly ids: readonly string[];
  readonly state: 'held' | 'waiting';
  /** Of a read/write lock. */
  readonly mode?: 'read' | 'write';
  readonly host?: string;
  readonly pid?: number;
  readonly method?: string;
  /** When it came, in ms since 1970. */
  readonly since?: number;
  /** What its node carries; of Curator the address of the host. */
  readonly data?: string;
  readonly fencingToken?: string;
}

/** A lock on the servers that somebody holds or queues for. */
export interface ObservedLock {
  /** On the servers; on ZooKeeper its path. */
  readonly name: string;
  readonly kind: 'mutex' | 'read/write lock' | 'semaphore' | 'leader latch';
  /** Holders, then the queue in its order. */
  readonly parties: readonly ObservedParty[];
}

/** How processes on the same servers tell each other what they are at, when one of them asks. */
export interface PeerReports {
  /** From now on answers who asks, with what `report` gives then. */
  answer(report: () => string): void;
  /** What the other processes answer within `timeout` ms. Rejects when the servers do not let it ask. */
  ask(timeout: number): Promise<string[]>;
  /** Answers nobody any more, and takes away what it has left on the servers. Never rejects. */
  close(): Promise<void>;
}

/** Property in which a client keeps its survey; the same in all copies of this package. */
export const LOCK_INSPECTION: unique symbol = Symbol.for('nestjs-interlock:survey');

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
export interface LockInspection {
  /** The name of that lock on the servers. */
  nameOf(key: string): string;
  /** The key of a lock of that name. */
  keyOf(name: string): string;
  /** What this client is at. */
  activity(): QueuedActivity[];
  /** The locks that are held or queued for. Rejects when the servers do not answer. */
  locks(known: KnownLocks): Promise<{ locks: ObservedLock[]; omitted: number }>;
  /**
   * Takes the lock from the holder with these ids; resolves to whether it had it. A holder of this process is told at once,
   * others as the backend does.
   */
  release(name: string, ids: readonly string[]): Promise<boolean>;
  /** A new way to other processes on the same servers. */
  exchange(): PeerReports;
}
