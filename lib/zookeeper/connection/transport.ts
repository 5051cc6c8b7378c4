import type { AclEntry, AuthInfo, CreateMode, Stat } from './zookeeper-connection.js';
import type { ServerAddress } from './server-list.js';
import type { Session } from './session.js';

/** One request, as it goes over a link. Paths are absolute. */
export type Request =
  | {
      readonly op: 'create';
      readonly path: string;
      readonly data: Buffer;
      readonly mode: CreateMode;
    }
  | { readonly op: 'delete'; readonly path: string; readonly version: number }
  | { readonly op: 'exists'; readonly path: string; readonly watch: boolean }
  | { readonly op: 'getData'; readonly path: string; readonly watch: boolean }
  | {
      readonly op: 'setData';
      readonly path: string;
      readonly data: Buffer;
      readonly version: number;
    }
  | { readonly op: 'setAcl'; readonly path: string; readonly acl: readonly AclEntry[] }
  | { readonly op: 'getChildren'; readonly path: string; readonly watch: boolean }
  | { readonly op: 'sync'; readonly path: string };

/** What each request is answered with. */
export interface Answers {
  create: string;
  delete: undefined;
  exists: Stat;
  getData: { data: Buffer; stat: Stat };
  setData: Stat;
  setAcl: undefined;
  getChildren: string[];
  sync: undefined;
}

/** Called with a code of `ReturnCode` and, for 0, the answer; once per request, unless the link tells of its end instead. */
export type Reply = (rc: number, answer?: Answers[keyof Answers]) => void;

/** What names a session to the servers, and what they said of it. */
export interface SessionCredentials {
  /** Lower-case hex without leading zeros. */
  readonly id: string;
  readonly password: string;
  /** As negotiated, in milliseconds; `Infinity`: it cannot expire. */
  readonly timeout: number;
}

/** What a link tells its owner. Nothing comes after `onDisconnected` or `onExpired`, which come at most once. */
export interface LinkListener {
  /** The servers have accepted the session: the asked-for one, or a new one. */
  onConnected(credentials: SessionCredentials): void;
  /** The link is gone, or never came up. The session may live on. */
  onDisconnected(reason: string): void;
  /** The servers say that the session is gone. */
  onExpired(reason: string): void;
  /** A watch fired. Delivered before the answer to any request that sees the change. */
  onWatch(type: 'created' | 'deleted' | 'changed' | 'child', path: string): void;
}

/** One connection to one server: opened, used, lost once. Never used again after that. */
export interface TransportLink {
  /** Sends at once; requests are answered in order. After the link is gone: `CONNECTIONLOSS`. Never replies at once. */
  request(request: Request, reply: Reply): void;
  /**
   * Leaves the link without ending `session`, be it dead or only silent. Should `session` end later while the server
   * still listens to the abandoned link, the transport closes the session through it: else its ephemeral nodes would stay.
   */
  detach(session: Session | undefined): void;
  /** Ends the session, if the link is up, and the link. */
  close(): void;
}

/** Opens links: the narrow place where the native driver and the embedded tree differ. */
export interface Transport {
  /** Returns at once; the listener hears nothing before that. */
  open(options: OpenOptions, listener: LinkListener): TransportLink;
  /**
   * Closes every link, also what is left of detached ones. Resolves when the servers have been told, as far as they can be
   * reached, and nothing of the transport keeps the process alive any more.
   */
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly address: ServerAddress;
  /** The session to attach to; none: a new one. */
  readonly credentials?: SessionCredentials;
  /** Asked for, in milliseconds; the servers may negotiate another. */
  readonly sessionTimeout: number;
  readonly auth: readonly AuthInfo[];
}
