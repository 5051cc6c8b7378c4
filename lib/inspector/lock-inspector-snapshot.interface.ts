import { type LockClient, type LockClientStatus, LockTimeoutError } from '../core/index.js';

/** Locks whose counts are kept; those that have not changed for longest are forgotten first. */
const CAPACITY = 1_000;

/** How often the locks of a client were lost or timed out, since it was listened to. */
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
    this.#byKey.delete(key); // to the end of the order
    this.#byKey.set(key, [lostBefore + lost, timedOutBefore + timedOut]);
    const [eldest] = this.#byKey.keys();
    if (this.#byKey.size > CAPACITY) this.#byKey.delete(eldest!);
  }
}

/** Who holds a lock, or waits for it, as far as it is known. */
export interface InspectedParty {
  /** What the servers know it by: a path on ZooKeeper, on Redis the id of a holder or of permits. None: it is not there. */
  readonly ids: readonly string[];
  /** Of a read/write lock. */
  readonly mode?: 'read' | 'write';
  readonly host?: string;
  /** Process id. */
  readonly pid?: number;
  /** Class and method of a decorated method, or the `method` of the acquire. */
  readonly method?: string;
  /** In an election: its id, shortened to 200 characters. */
  readonly participant?: string;
  /** Since when it holds or waits, in ms since 1970. */
  readonly since?: number;
  /** What its node carries, where no process tells of it: of Curator the address of the host. */
  readonly data?: string;
  readonly fencingToken?: string;
}

/** A lock that somebody holds or waits for. */
export interface InspectedLock {
  /** As the application names it. */
  readonly key: string;
  /** On the servers; on ZooKeeper its path. */
  readonly name: string;
  /** Such as `mutex`, `read/write lock`, `semaphore`, `leader latch`. */
  readonly kind: string;
  /** Of an election: the leader. */
  readonly holders: readonly InspectedParty[];
  /** In order, as far as there is one. */
  readonly queue: readonly InspectedParty[];
  /** How often its holders have lost it, in all processes that tell. */
  readonly lost: number;
  /** How many acquires of it have timed out, in all processes that tell. */
  readonly timedOut: number;
}

/** A process that tells what it is at. */
export interface InspectedProcess {
  readonly host: string;
  readonly pid: number;
  readonly held: number;
  readonly waiting: number;
  /** Since its start. */
  readonly lost: number;
  /** Since its start. */
  readonly timedOut: number;
}

/** What one client shows. */
export interface InspectedClient {
  readonly name: string;
  readonly health: LockClientStatus['health'];
  /** Of the connection of this process. */
  readonly state: string;
  /** This one first. */
  readonly processes: readonly InspectedProcess[];
  /** By their keys. */
  readonly locks: readonly InspectedLock[];
  /** Locks beyond the limit. */
  readonly omitted: number;
  /** What could not be found out, and why. */
  readonly problems: readonly string[];
}

/** The locks of the application on its backends at one time. */
export interface LockInspectorSnapshot {
  /** When it was taken, in ms since 1970. */
  readonly at: number;
  readonly clients: readonly InspectedClient[];
}
