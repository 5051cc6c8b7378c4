import type { Session } from './session.js';

/** What the server knows of a znode. */
export interface Stat {
  /** Transaction that created it: grows over the whole ensemble, below 2^53 for two million elections. */
  readonly czxid: number;
  /** When that was, by the clock of the servers; the embedded tree does not keep it. */
  readonly ctime?: Date;
  /** Transaction that changed it last. */
  readonly mzxid: number;
  /** Number of changes to its data. */
  readonly version: number;
  /** Id of the session it lives with, in lower-case hex without leading zeros; `0` when it is not ephemeral. */
  readonly ephemeralOwner: string;
  readonly numChildren: number;
}

/** Kinds of znodes, with the flags of the protocol. */
export const CreateMode = {
  PERSISTENT: 0,
  EPHEMERAL: 1,
  PERSISTENT_SEQUENTIAL: 2,
  EPHEMERAL_SEQUENTIAL: 3,
  /** Removed by the server some time after its last child has gone. */
  CONTAINER: 4,
} as const;

export type CreateMode = (typeof CreateMode)[keyof typeof CreateMode];

/**
 * State of a connection, as in Curator.
 *
 * - `CONNECTING`: not yet connected for the first time.
 * - `CONNECTED`: connected for the first time.
 * - `SUSPENDED`: the connection is gone; the session, and with it every lock, may still live.
 * - `RECONNECTED`: connected again, to the same session or, after `LOST`, to a new one.
 * - `LOST`: the session has expired or may have; its locks are gone. A new session is being opened.
 * - `CLOSED`: closed by its owner.
 */
export type ConnectionState =
  'CONNECTING' | 'CONNECTED' | 'SUSPENDED' | 'RECONNECTED' | 'LOST' | 'CLOSED';

/**
 * A watch has fired. `disconnected` is ours: the connection was lost and the watch with it, so look again.
 * Do not rely on more than "look again": `changed` may stand for deleted and created anew.
 */
export interface WatchEvent {
  readonly type: 'created' | 'deleted' | 'changed' | 'child' | 'disconnected';
  readonly path: string;
}

export type Watcher = (event: WatchEvent) => void;

/** Permission bits of ZooKeeper. */
export const Permission = { READ: 1, WRITE: 2, CREATE: 4, DELETE: 8, ADMIN: 16, ALL: 31 } as const;

/** One entry of an access control list. */
export interface AclEntry {
  /** Sum of {@link Permission} bits. */
  readonly perms: number;
  /** `world`, `auth`, `digest`, `ip`, `x509`, … */
  readonly scheme: string;
  /** `anyone` for `world`, empty for `auth`, `user:hash` for `digest`. */
  readonly id: string;
}

/** Credentials that a connection presents, e.g. `{ scheme: 'digest', auth: 'user:password' }`. */
export interface AuthInfo {
  readonly scheme: string;
  readonly auth: string;
}

/**
 * The port that all recipes stand on: a session on a ZooKeeper ensemble that outlives its TCP connections.
 *
 * Requests are sent at once, in the order of the calls, and answered in that order: two calls in one tick are pipelined.
 * A request rejects with `ZooKeeperError`; unless the connection is up it is refused with `CONNECTIONLOSS` and not sent.
 * Where the answer went missing the error says `maybeDone`.
 *
 * A watcher is called once. It is taken off without a call only by `unwatch`.
 */
export interface ZooKeeperConnection {
  readonly state: ConnectionState;
  /** `CONNECTED` or `RECONNECTED`: requests go out. */
  readonly isConnected: boolean;
  /** The session that requests belong to; none before the first connection and between `LOST` and the next session. */
  readonly session: Session | undefined;

  /** Resolves to the path as made, with the counter of a sequential node. */
  create(path: string, data: Buffer, mode: CreateMode): Promise<string>;
  /** `version` -1: any. */
  delete(path: string, version?: number): Promise<void>;
  /** `undefined` when there is no such node; the watcher is then told of its creation. */
  exists(path: string, watcher?: Watcher): Promise<Stat | undefined>;
  /** The watcher is set only if the node exists. */
  getData(path: string, watcher?: Watcher): Promise<{ data: Buffer; stat: Stat }>;
  setData(path: string, data: Buffer, version?: number): Promise<Stat>;
  setAcl(path: string, acl: readonly AclEntry[]): Promise<void>;
  /** Names, not paths, in no particular order. The watcher is set only if the node exists. */
  getChildren(path: string, watcher?: Watcher): Promise<string[]>;
  /** Brings the server that we are connected to up to date with the leader: the reads that follow see every earlier write. */
  sync(path: string): Promise<void>;

  /** Takes a watcher off again; the server keeps its watch until the node changes, but nobody is called. */
  unwatch(path: string, watcher: Watcher): void;
  /** Called on every change of state, with the reason; the returned function stops that. */
  onStateChange(listener: (state: ConnectionState, reason: string) => void): () => void;
  /** Starts connecting; returns at once. */
  start(): void;
  /**
   * Ends the session and the connection. Everything still unanswered rejects at once; the promise resolves when the
   * servers have been told, as far as they can be reached. Idempotent.
   */
  close(): Promise<void>;
}
