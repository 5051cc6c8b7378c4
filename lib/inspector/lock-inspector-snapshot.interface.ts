import { type LockClient, type LockClientStatus, LockTimeoutError } from '../core/index.js';

/** Maximum number of locks with counts; the least recently changed are dropped first. */
const CAPACITY = 1_000;

/** Counts how often the locks of a client were lost or timed out, since the listeners were added. */
export class LockCounts {
  lost = 0;
  timedOut = 0;
  readonly #byKey = new Map<string, readonly [lost: number, timedOut: number]>();
  readonly #stop: (() => void)[];

  constructor(client: LockClient) {
    this.#stop = [
      client.on('lost', ({ key }) => {
        this.lost += 1;
        this.#count(key, 1, 0);
      }),
      client.on('failed', ({ key, error }) => {
        if (!(error instanceof LockTimeoutError)) return;
        this.timedOut += 1;
        this.#count(key, 0, 1);
      }),
    ];
  }

  get byKey(): ReadonlyMap<string, readonly [lost: number, timedOut: number]> {
    return this.#byKey;
  }

  stop(): void {
    for (const stop of this.#stop) stop();
  }

  #count(key: string, lost: number, timedOut: number): void {
    const [lostBefore, timedOutBefore] = this.#byKey.get(key) ?? [0, 0];
    this.#byKey.delete(key); // moves the key to the end of the order
    this.#byKey.set(key, [lostBefore + lost, timedOutBefore + timedOut]);
    const [eldest] = this.#byKey.keys();
    if (this.#byKey.size > CAPACITY) this.#byKey.delete(eldest!);
  }
}

/** A holder of a lock, or a waiter for it, as far as known. */
export interface InspectedParty {
  /** Ids on the servers: a path on ZooKeeper, on Redis the id of a holder or of permits. Empty if it has no entry there. */
  readonly ids: readonly string[];
  /** Mode of a read/write lock. */
  readonly mode?: 'read' | 'write' | undefined;
  readonly host?: string | undefined;
  /** Process id. */
  readonly pid?: number | undefined;
  /** Class and method of a decorated method, or the `method` of the acquire. */
  readonly method?: string | undefined;
  /** In an election, the id of the participant, shortened to 200 characters. */
  readonly participant?: string | undefined;
  /** Start of the hold or the wait, in ms since 1970. */
  readonly since?: number | undefined;
  /** Data of its node, if no process reports it; for Curator the address of the host. */
  readonly data?: string | undefined;
  readonly fencingToken?: string | undefined;
  /** How often callers of its process have handed the lock on, or share it, if they do: see `MutexOptions.handOff`. */
  readonly handOffs?: number | undefined;
}

/** A lock with holders or waiters. */
export interface InspectedLock {
  /** Key used by the application. */
  readonly key: string;
  /** Name on the servers; on ZooKeeper the path. */
  readonly name: string;
  /** Kind of lock, such as `mutex`, `read/write lock`, `semaphore`, `leader latch`. */
  readonly kind: string;
  /** The holders; in an election, the leader. */
  readonly holders: readonly InspectedParty[];
  /** The waiters, in queue order as far as there is one. */
  readonly queue: readonly InspectedParty[];
  /** Number of times that its holders lost it, over all reporting processes. */
  readonly lost: number;
  /** Number of its acquires that timed out, over all reporting processes. */
  readonly timedOut: number;
}

/** A process that reports its activity. */
export interface InspectedProcess {
  readonly host: string;
  readonly pid: number;
  readonly held: number;
  readonly waiting: number;
  /** Number of locks that it keeps for its next caller: see `HandOff.keep`. */
  readonly kept: number;
  /** Number of its locks that the servers have not confirmed for long, of those that were looked at: see `LockEvents.endangered`. */
  readonly endangered: number;
  /** The longest stall of its event loop in the last minute that was seen while it held a lock, in ms; 0 if there was none of 2 s. */
  readonly stalledMs: number;
  /** Locks lost since its start. */
  readonly lost: number;
  /** Acquires timed out since its start. */
  readonly timedOut: number;
  /** Number of its acquires that have no room in its report; they are counted in `held` and `waiting`. */
  readonly omitted: number;
}

/** State of one client. */
export interface InspectedClient {
  readonly name: string;
  /** Where its locks are; `unknown` for a fake, or a client of an older copy of this package. */
  readonly backend: 'embedded' | 'zookeeper' | 'redis' | 'unknown';
  /** Servers in use as `host:port`, without credentials. Empty while none is connected, and on the embedded backend. */
  readonly servers: readonly string[];
  /** What the names of its locks on the servers begin with; on ZooKeeper the directory. */
  readonly prefix: string;
  readonly health: LockClientStatus['health'];
  /** Connection state of this process. */
  readonly state: string;
  /** The reporting processes, this one first. */
  readonly processes: readonly InspectedProcess[];
  /** The locks, sorted by key. */
  readonly locks: readonly InspectedLock[];
  /** Number of locks beyond the limit, and of those that the servers refused to read. */
  readonly omitted: number;
  /** What could not be determined, and why. */
  readonly problems: readonly string[];
}

/** The locks of the application on its backends at one point in time. */
export interface LockInspectorSnapshot {
  /** Time of the snapshot, in ms since 1970. */
  readonly at: number;
  readonly clients: readonly InspectedClient[];
}
