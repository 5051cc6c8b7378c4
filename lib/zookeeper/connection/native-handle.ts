import type { Reply, Request } from './transport.js';
import { ReturnCode } from './zookeeper-error.js';

/** A stat as returned by the driver. */
interface NativeStat {
  readonly czxid: number;
  readonly mzxid: number;
  readonly version: number;
  readonly ephemeralOwner: string;
  readonly numChildren: number;
}

type Callback<A extends unknown[]> = (rc: number, message: string, ...answer: A) => void;

/**
 * The used part of the driver's addon, typed by its actual behaviour (its own typings say `any`).
 *
 * Every `a_*` writes to the socket at once and returns 0, or a code when nothing was sent. An error while sending shows
 * only in `state`, which is then no longer `CONNECTED`.
 */
export interface NativeHandle {
  /** State of the connection; 3 is connected. */
  readonly state: number;
  readonly client_id: string;
  readonly client_password: string;
  /** Negotiated session timeout in milliseconds. */
  readonly timeout: number;
  /** Called by the driver for `connect`, `connecting`, `close` and watch events. */
  emit: (event: string, self: unknown, detail?: unknown) => void;
  /** Returns an `Error` instead of throwing it. */
  init(config: object): unknown;
  close(): void;
  add_auth(scheme: string, auth: string, done: (rc: number) => void): number;
  a_create(path: string, data: Buffer, flags: number, done: Callback<[string]>): number;
  a_delete_(path: string, version: number, done: Callback<[]>): number;
  a_exists(path: string, watch: boolean, done: Callback<[NativeStat]>): number;
  a_get(path: string, watch: boolean, done: Callback<[NativeStat, Buffer | null]>): number;
  a_set(path: string, data: Buffer, version: number, done: Callback<[NativeStat]>): number;
  a_set_acl(path: string, version: number, acl: object[], done: Callback<[]>): number;
  a_get_children(path: string, watch: boolean, done: Callback<[string[]]>): number;
  a_sync(path: string, done: Callback<[string]>): number;
}

/** Sends `request` by the driver's call for it and returns the code of that call; 0 means sent. */
export function sendNative(handle: NativeHandle, request: Request, reply: Reply): number {
  switch (request.op) {
    case 'create':
      return handle.a_create(request.path, request.data, request.mode, (rc, _, path) =>
        reply(rc, { path }),
      );
    case 'delete':
      return handle.a_delete_(request.path, request.version, (rc) => reply(rc));
    case 'exists':
      return handle.a_exists(request.path, request.watch, (rc, _, stat) => reply(rc, stat));
    case 'getData':
      return handle.a_get(request.path, request.watch, (rc, _, stat, data) =>
        reply(rc, { stat, data: data ?? Buffer.alloc(0) }),
      );
    case 'setData':
      return handle.a_set(request.path, request.data, request.version, (rc, _, stat) =>
        reply(rc, stat),
      );
    case 'setAcl': {
      const acl = request.acl.map(({ perms, scheme, id }) => ({ perm: perms, scheme, auth: id }));
      return handle.a_set_acl(request.path, -1, acl, (rc) => reply(rc));
    }
    case 'getChildren':
      return handle.a_get_children(request.path, request.watch, (rc, _, names) => reply(rc, names));
    case 'multi':
    case 'removeWatches':
      return ReturnCode.UNIMPLEMENTED;
    case 'sync':
      return handle.a_sync(request.path, (rc) => reply(rc));
  }
}
