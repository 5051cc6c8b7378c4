import type { ClientHealth, UrgentActivity } from './internal/client-activity.js';
import type { ExchangeLimits, ExchangeTopic, PeerReports } from './peer-reports.js';

/** A holder or waiter of a lock, as seen on the servers. */
export interface ObservedParty {
  /** Server-side ids: a path on ZooKeeper, the id of a holder or a permit on Redis. One id for each permit. */
  readonly ids: readonly string[];
  readonly state: 'held' | 'waiting';
  /** Mode of a read/write lock. */
  readonly mode?: 'read' | 'write' | undefined;
  readonly host?: string | undefined;
  readonly pid?: number | undefined;
  readonly method?: string | undefined;
  /** Time of arrival, in ms since 1970. */
  readonly since?: number | undefined;
  /** Data of its node; with Curator the address of the host. */
  readonly data?: string | undefined;
  readonly fencingToken?: string | undefined;
}

/** A lock on the servers that has a holder or a queue. */
export interface ObservedLock {
  /** Name on the servers; on ZooKeeper the path. */
  readonly name: string;
  readonly kind: 'mutex' | 'read/write lock' | 'semaphore' | 'leader latch';
  /** Holders, then the waiters in queue order. */
  readonly parties: readonly ObservedParty[];
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
  /** Maximum number of keys or nodes of a server to examine for unknown locks; 0: none. */
  readonly scan: number;
}

/** What an inspection has read from the servers. */
export interface ObservedLocks {
  readonly locks: readonly ObservedLock[];
  /** Number of names beyond the limit, which were not read. */
  readonly omitted: number;
  /** Why the servers refused to read some of the names, one text for each. */
  readonly refusals: readonly string[];
}

/** So many locks are read at once: a look at thousands leaves the servers and the event loop to others in between. */
const AT_ONCE = 250;

/**
 * Reads locks one by one: one that the servers refuse, such as a name without a lock or without permission, leaves the others
 * readable. Rejects if `isRefusal` is false for an error, or if every read was refused.
 */
export async function readEach(
  names: readonly string[],
  read: (name: string) => Promise<ObservedLock | undefined>,
  isRefusal: (error: unknown) => error is Error,
): Promise<Pick<ObservedLocks, 'locks' | 'refusals'>> {
  const locks: ObservedLock[] = [];
  const refused: Error[] = [];
  const readOne = async (name: string) => {
    const lock = await read(name).catch((error: unknown) => {
      if (!isRefusal(error)) throw error;
      refused.push(error);
      return undefined;
    });
    return lock ?? [];
  };
  for (let from = 0; from < names.length; from += AT_ONCE)
    locks.push(...(await Promise.all(names.slice(from, from + AT_ONCE).map(readOne))).flat());
  if (refused.length > 0 && refused.length === names.length) throw refused[0]!;
  return { locks, refusals: refused.map(({ message }) => message) };
}

/** Where a client keeps its locks, for an operator to see which servers a page is about. */
export interface LockPlace {
  readonly backend: 'embedded' | 'zookeeper' | 'redis';
  /** Servers in use as `host:port` or the path of a socket, never with credentials; empty while it is connected to none. */
  readonly servers: readonly string[];
  /** What the names on the servers begin with; on ZooKeeper the directory. */
  readonly prefix: string;
}

/** Operator's view of the locks on the servers of a client, held by any client. It acquires no lock. */
export interface LockInspection {
  /** Absent in clients of older copies of this package. */
  readonly place?: LockPlace;
  /** Name on the servers of the lock with this key. */
  nameOf(key: string): string;
  /** Key of the lock with this name. */
  keyOf(name: string): string;
  /** As in the `status()` of this client, which counts its locks as well. */
  health(): ClientHealth;
  /** The most urgent acquires of this client, at most `most`, and the number of the others. */
  activity(most: number): UrgentActivity;
  /** The locks that have a holder or a queue. Rejects when the servers do not answer. */
  locks(known: KnownLocks): Promise<ObservedLocks>;
  /**
   * Takes the lock from the holder with these ids; resolves to whether it was held. A holder of this process is notified at
   * once, a holder of another process learns of it in the backend's way.
   */
  release(name: string, ids: readonly string[]): Promise<boolean>;
  /**
   * Creates a new exchange with other processes on the same servers; `undefined` if there can be none.
   *
   * @param topic default: `'inspector'`
   */
  exchange(limits: ExchangeLimits, topic?: ExchangeTopic): PeerReports | undefined;
}
