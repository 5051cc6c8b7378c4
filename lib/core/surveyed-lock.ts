/** Who holds a lock or queues for it, as the servers tell. */
export interface SurveyedParty {
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
export interface SurveyedLock {
  /** On the servers; on ZooKeeper its path. */
  readonly name: string;
  readonly kind: 'mutex' | 'read/write lock' | 'semaphore' | 'leader latch';
  /** Holders, then the queue in its order. */
  readonly parties: readonly SurveyedParty[];
}
