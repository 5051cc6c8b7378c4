import type { WatchKind } from './idle-watches.js';
import type {
  AclEntry,
  AuthInfo,
  Change,
  Operation,
  OperationAnswers,
  Stat,
} from './zookeeper-connection.js';
import type { ServerAddress } from './server-list.js';
import type { Session } from './session.js';

/** A request as sent over a link. Paths are absolute. */
export type Request =
  | Change
  | { readonly op: 'exists'; readonly path: string; readonly watch: boolean }
  | { readonly op: 'getData'; readonly path: string; readonly watch: boolean }
  | { readonly op: 'setAcl'; readonly path: string; readonly acl: readonly AclEntry[] }
  | { readonly op: 'getChildren'; readonly path: string; readonly watch: boolean }
  /** Removes the watch of this link on the path; the native driver cannot. */
  | { readonly op: 'removeWatches'; readonly path: string; readonly kind: WatchKind }
  /** All of the operations, in one transaction, or none; the native driver cannot. `path` is that of the first. */
  | { readonly op: 'multi'; readonly path: string; readonly operations: readonly Operation[] }
  | { readonly op: 'sync'; readonly path: string };

/** Answer to each kind of request. */
export interface Answers extends OperationAnswers {
  exists: Stat;
  getData: { data: Buffer; stat: Stat };
  setAcl: undefined;
  getChildren: string[];
  removeWatches: undefined;
  /** The answers of the operations; or, if none was carried out, which of them is to blame, and its code. */
  multi:
    | { readonly answers: readonly OperationAnswers[Operation['op']][] }
    | { readonly failed: number; readonly rc: number };
  sync: undefined;
}

/** Called with a code of `ReturnCode` and, for 0, the answer; once per request, unless the link reports its end instead. */
export type Reply = (rc: number, answer?: Answers[keyof Answers]) => void;

/** Identifies a session to the servers, with the timeout that they granted. */
export interface SessionCredentials {
  /** Lower-case hex without leading zeros. */
  readonly id: string;
  readonly password: string;
  /** Negotiated timeout in milliseconds; `Infinity` if the session cannot expire. */
  readonly timeout: number;
}

/** Listener to the events of a link. `onDisconnected` or `onExpired` is called at most once, as the last event. */
export interface LinkListener {
  /** One more step to `onConnected` is done. There are few of them, whatever the server sends. */
  onProgress?(): void;
  /** The servers have accepted the session: the requested one, or a new one. */
  onConnected(credentials: SessionCredentials): void;
  /** The link is lost, or never came up. The session may live on. */
  onDisconnected(reason: string): void;
  /** The servers report that the session no longer exists. */
  onExpired(reason: string): void;
  /** A watch fired. Delivered before the answer to any request that sees the change. */
  onWatch(type: 'created' | 'deleted' | 'changed' | 'child', path: string): void;
}

/** One connection to one server. It is opened and lost once, and never used again after that. */
export interface TransportLink {
  /**
   * Sends at once; requests are answered in order, never synchronously. A lost link replies `CONNECTIONLOSS`. A driver that
   * has no call for the request replies `UNIMPLEMENTED`, and sends nothing.
   */
  request(request: Request, reply: Reply): void;
  /**
   * Abandons the link, whether dead or only silent, without ending `session`. If `session` ends later while the server
   * still listens to this link, the transport closes the session through it: otherwise its ephemeral nodes would stay.
   */
  detach(session: Session | undefined): void;
  /** Ends the session, if the link is up, and closes the link. */
  close(): void;
}

/** Opens links: the narrow interface behind which the native driver, the wire driver and the embedded tree differ. */
export interface Transport {
  /** Name of the driver, for the log; none of the embedded tree. */
  readonly driver?: string;
  /** Whether it creates a node with its access control list; the native driver has no such call. Default: no. */
  readonly createsWithAcl?: boolean;
  /** Returns at once; the listener is not called before that. */
  open(options: OpenOptions, listener: LinkListener): TransportLink;
  /**
   * Closes every link, including what is left of detached ones. Resolves when the servers have been notified, as far as
   * they can be reached, and the transport no longer keeps the process alive.
   */
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly address: ServerAddress;
  /** The session to attach to; a new one is opened if omitted. */
  readonly credentials?: SessionCredentials;
  /** Requested timeout in milliseconds; the servers may negotiate another. */
  readonly sessionTimeout: number;
  readonly auth: readonly AuthInfo[];
}
