/** Return codes of the ZooKeeper protocol, with the names of its C client. */
export const ReturnCode = {
  OK: 0,
  RUNTIMEINCONSISTENCY: -2,
  DATAINCONSISTENCY: -3,
  CONNECTIONLOSS: -4,
  MARSHALLINGERROR: -5,
  UNIMPLEMENTED: -6,
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
  EPHEMERALONLOCALSESSION: -120,
  NOWATCHER: -121,
  SESSIONCLOSEDREQUIRESASLAUTH: -124,
  QUOTAEXCEEDED: -125,
  THROTTLEDOP: -127,
} as const;

const NAMES = new Map(Object.entries(ReturnCode).map(([name, rc]) => [rc as number, name]));

/** The name of a code; of an unknown one its number. */
export const codeName = (rc: number): string => NAMES.get(rc) ?? `code ${rc}`;

/** Codes that report a missing answer, as opposed to an error answered by the server. */
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

/** A request that failed: rejected by the server, or left without an answer. */
export class ZooKeeperError extends Error {
  /** Name of the code, e.g. `NONODE`. */
  readonly code: string;

  /**
   * @param rc a return code of ZooKeeper's C client, such as -102, `NOAUTH`
   * @param maybeDone true if the server may have carried out the request although no answer came: the caller must find out
   * @param index which operation of a transaction cannot be carried out
   */
  constructor(
    readonly rc: number,
    readonly operation: string,
    readonly path: string,
    readonly maybeDone = false,
    readonly index?: number,
  ) {
    const code = codeName(rc);
    super(`${operation} ${path}: ${code}${maybeDone ? ' (it may have been carried out)' : ''}`);
    this.name = 'ZooKeeperError';
    this.code = code;
  }

  /** True if no answer came: the connection failed, not the request. */
  get isConnectionLoss(): boolean {
    return ZooKeeperError.isTransport(this.rc);
  }

  /** True if it was not carried out, or not answered, for lack of a connection or of time: it may be retried. */
  get isTransient(): boolean {
    return this.isConnectionLoss || this.rc === ReturnCode.THROTTLEDOP;
  }

  /** Whether `rc` reports a missing answer. */
  static isTransport(rc: number): boolean {
    return TRANSPORT.has(rc);
  }

  /** Whether `error` is the server's answer `rc`. */
  static is(error: unknown, rc: number): error is ZooKeeperError {
    return error instanceof ZooKeeperError && error.rc === rc;
  }
}
