import type { Session } from './session.js';

/** Metadata of a znode, as kept by the server. */
export interface Stat {
  /** Transaction that created the node: increases over the whole ensemble, below 2^53 for two million elections. */
  readonly czxid: number;
  /** Time of the creation, by the clock of the servers; the embedded tree does not record it. */
  readonly ctime?: Date | undefined;
  /** Time of the last change of its data, by the clock of the servers; the embedded tree does not record it. */
  readonly mtime?: Date | undefined;
  /** Transaction that last changed the node. */
  readonly mzxid: number;
  /** Number of changes to its data. */
  readonly version: number;
  /** Id of the owning session in lower-case hex without leading zeros; `0` if the node is not ephemeral. */
  readonly ephemeralOwner: string;
  readonly numChildren: number;
}

/** A node that was created. */
export interface Created {
  /** Full path, with the sequence number of a sequential node. */
  readonly path: string;
  /** The transaction that created it; `undefined` if the driver does not report it, nor do servers in a `multi`. */
  readonly czxid?: number | undefined;
}

/** Kinds of znodes, with their protocol flags. */
export const CreateMode = {
  PERSISTENT: 0,
  EPHEMERAL: 1,
  PERSISTENT_SEQUENTIAL: 2,
  EPHEMERAL_SEQUENTIAL: 3,
  /** Removed by the server some time after its last child was removed. */
  CONTAINER: 4,
} as const;

export type CreateMode = (typeof CreateMode)[keyof typeof CreateMode];

/**
 * State of a connection, as in Curator.
 *
 * - `CONNECTING`: not yet connected for the first time.
 * - `CONNECTED`: connected for the first time.
 * - `SUSPENDED`: the connection is lost; the session, and with it every lock, may still be alive.
 * - `RECONNECTED`: connected again, to the same session or, after `LOST`, to a new one.
 * - `LOST`: the session has expired or may have expired; its locks are lost. A new session is being opened.
 * - `CLOSED`: closed by its owner.
 */
export type ConnectionState =
  'CONNECTING' | 'CONNECTED' | 'SUSPENDED' | 'RECONNECTED' | 'LOST' | 'CLOSED';

/**
 * A watch has fired. `disconnected` is added by this library: the connection was lost and the watch with it, so read again.
 * Do not rely on more than "read again": `changed` may stand for a deletion and re-creation.
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

/** A change of one node. */
export type Change =
  | {
      readonly op: 'create';
      readonly path: string;
      readonly data: Buffer;
      readonly mode: CreateMode;
      /** Access control list of the node, on a transport that `createsWithAcl`. Default: open to everyone. */
      readonly acl?: readonly AclEntry[] | undefined;
    }
  | { readonly op: 'delete'; readonly path: string; readonly version: number }
  | {
      readonly op: 'setData';
      readonly path: string;
      readonly data: Buffer;
      readonly version: number;
    };

/** A part of a `multi`: a change, or a `check` that the node exists in that version; -1 is any. */
export type Operation =
  Change | { readonly op: 'check'; readonly path: string; readonly version: number };

/** Answer to each kind of operation. */
export interface OperationAnswers {
  create: Created;
  delete: undefined;
  setData: Stat;
  check: undefined;
}

/** Credentials that a connection presents, e.g. `{ scheme: 'digest', auth: 'user:password' }`. */
export interface AuthInfo {
  readonly scheme: string;
  readonly auth: string;
}

/**
 * The port that all recipes are built on: a session on a ZooKeeper ensemble that outlives its TCP connections.
 *
 * Requests are sent at once, in the order of the calls, and answered in that order: two calls in one tick are pipelined.
 * A request rejects with `ZooKeeperError`; unless the connection is up it rejects with `CONNECTIONLOSS` and is not sent.
 * If the answer is missing, the error has `maybeDone` set.
 *
 * A watcher is called once. Only `unwatch` removes it without a call.
 */
export interface ZooKeeperConnection {
  readonly state: ConnectionState;
  /** True if the state is `CONNECTED` or `RECONNECTED`: requests are sent. */
  readonly isConnected: boolean;
  /** Session that requests belong to; `undefined` before the first connection and between `LOST` and the next session. */
  readonly session: Session | undefined;
  /** The server of the latest attempt to connect, as `host:port`. */
  readonly server?: string | undefined;

  /** Whether `create` takes a list: with it a node is never there without its list. */
  readonly createsWithAcl: boolean;

  /** @param acl only if `createsWithAcl`; default: open to everyone */
  create(path: string, data: Buffer, mode: CreateMode, acl?: readonly AclEntry[]): Promise<Created>;
  /** Deletes the node if it has that `version`; -1 (the default) matches any version. */
  delete(path: string, version?: number): Promise<void>;
  /** Resolves to `undefined` if there is no such node; the watcher is then notified of its creation. */
  exists(path: string, watcher?: Watcher): Promise<Stat | undefined>;
  /** The watcher is set only if the node exists. */
  getData(path: string, watcher?: Watcher): Promise<{ data: Buffer; stat: Stat }>;
  setData(path: string, data: Buffer, version?: number): Promise<Stat>;
  setAcl(path: string, acl: readonly AclEntry[]): Promise<void>;
  /** Resolves to names, not paths, in no particular order. The watcher is set only if the node exists. */
  getChildren(path: string, watcher?: Watcher): Promise<string[]>;
  /**
   * Carries out all of the operations in one transaction, or none of them. Resolves to their answers. Rejects with the error
   * of the first that cannot be carried out; by the native driver, which has no such call, with `UNIMPLEMENTED`.
   *
   * @param operations in their order: each sees the changes of those before it; at least one
   */
  multi<const O extends readonly Operation[]>(
    operations: O,
  ): Promise<{ readonly [I in keyof O]: OperationAnswers[O[I]['op']] }>;
  /** Brings the connected server up to date with the leader: the reads that follow see every earlier write. */
  sync(path: string): Promise<void>;

  /** Removes a watcher: it is not called. The watch of the server goes too, after some time; by the native driver, at a change. */
  unwatch(path: string, watcher: Watcher): void;
  /** Calls `listener` on every change of state, with the reason; the returned function unsubscribes it. */
  onStateChange(listener: (state: ConnectionState, reason: string) => void): () => void;
  /** Calls `listener` when a session of this connection becomes doubtful: see `Session.onDoubt`. */
  onDoubt(listener: () => void): void;
  /** Starts connecting; returns at once. */
  start(): void;
  /**
   * Ends the session and the connection. All unanswered requests reject at once; the promise resolves when the servers
   * have been notified, as far as they can be reached. Idempotent.
   */
  close(): Promise<void>;
}
