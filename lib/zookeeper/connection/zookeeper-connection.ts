import type { AclEntry } from './acl.js';
import type { ConnectionState } from './connection-state.js';
import type { CreateMode } from './create-mode.js';
import type { Session } from './session.js';
import type { Stat } from './stat.js';
import type { Watcher } from './watch-event.js';

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
