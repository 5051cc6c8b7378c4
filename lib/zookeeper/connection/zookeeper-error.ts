/** Return codes of the ZooKeeper protocol, under the names of its C client. */
export const ReturnCode = {
  OK: 0,
  RUNTIMEINCONSISTENCY: -2,
  DATAINCONSISTENCY: -3,
  CONNECTIONLOSS: -4,
  MARSHALLINGERROR: -5,
  OPERATIONTIMEOUT: -7,
  BADARGUMENTS: -8,
  INVALIDSTATE: -9,
  NONODE: -101,
  NOAUTH: -102,
  BADVERSION: -103,
  NOCHILDRENFOREPHEMERALS: -108,
  NODEEXISTS: -110,
  NOTEMPTY: -111,
  SESSIONEXPIRED: -112,
  INVALIDACL: -114,
  AUTHFAILED: -115,
  CLOSING: -116,
  SESSIONMOVED: -118,
  QUOTAEXCEEDED: -125,
  THROTTLEDOP: -127,
} as const;

const NAMES = new Map(Object.entries(ReturnCode).map(([name, rc]) => [rc as number, name]));

/** Codes that say the answer did not come, rather than what it was. */
const TRANSPORT = new Set<number>([
  -1,
  ReturnCode.RUNTIMEINCONSISTENCY,
  ReturnCode.DATAINCONSISTENCY,
  ReturnCode.CONNECTIONLOSS,
  ReturnCode.MARSHALLINGERROR,
  ReturnCode.OPERATIONTIMEOUT,
  ReturnCode.INVALIDSTATE,
  ReturnCode.SESSIONEXPIRED,
  ReturnCode.CLOSING,
  ReturnCode.SESSIONMOVED,
]);

/** A request that failed: refused by the server, or without an answer. */
export class ZooKeeperError extends Error {
  /** Name of the code, e.g. `NONODE`. */
  readonly code: string;

  /**
   * @param rc a return code of ZooKeeper's C client, such as -102, `NOAUTH`
   * @param maybeDone the server may have carried the request out although no answer came: the caller must find out
   */
  constructor(
    readonly rc: number,
    readonly operation: string,
    readonly path: string,
    readonly maybeDone = false,
  ) {
    const code = NAMES.get(rc) ?? `code ${rc}`;
    super(`${operation} ${path}: ${code}${maybeDone ? ' (it may have been carried out)' : ''}`);
    this.name = 'ZooKeeperError';
    this.code = code;
  }

  /** No answer came: the connection failed, not the request. */
  get isConnectionLoss(): boolean {
    return ZooKeeperError.isTransport(this.rc);
  }

  /** It was not carried out, or the answer is missing, for want of a connection or of time: it may be tried again. */
  get isTransient(): boolean {
    return this.isConnectionLoss || this.rc === ReturnCode.THROTTLEDOP;
  }

  /** Is this a code of a missing answer? */
  static isTransport(rc: number): boolean {
    return TRANSPORT.has(rc);
  }

  /** Is `error` the server's answer `rc`? */
  static is(error: unknown, rc: number): error is ZooKeeperError {
    return error instanceof ZooKeeperError && error.rc === rc;
  }
}
