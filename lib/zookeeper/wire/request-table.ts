import { type JuteReader, ProtocolError } from './jute.js';

/** Called with the code of the answer; its record follows only if that is 0. */
type Answered = (rc: number, record: JuteReader) => void;

/** Numbers are signed and wrap to 1: the others mean events, pings and credentials, and 0 a request without a number. */
const LARGEST_XID = 2 ** 31 - 1;

/** Requests without an answer, in the order of sending, which is the order of the answers. */
export class RequestTable {
  readonly #unanswered: { readonly xid: number; readonly answered: Answered }[] = [];
  #xid = 0;

  /** @param lastXid number of the request before the first one; not 0 in tests of the wrap */
  constructor(lastXid = 0) {
    this.#xid = lastXid;
  }

  /** Number that the next request gets. */
  get nextXid(): number {
    return this.#xid === LARGEST_XID ? 1 : this.#xid + 1;
  }

  add(answered: Answered): void {
    this.#xid = this.nextXid;
    this.#unanswered.push({ xid: this.#xid, answered });
  }

  /**
   * Passes an answer on to its request.
   *
   * @throws ProtocolError if that is not the oldest one: which answers are missing, and which are mixed up, nobody can tell
   */
  answer(xid: number, rc: number, record: JuteReader): void {
    const oldest = this.#unanswered.shift();
    if (oldest?.xid !== xid)
      throw new ProtocolError(`an answer to request ${xid} instead of ${oldest?.xid ?? 'none'}`);
    oldest.answered(rc, record);
  }
}
