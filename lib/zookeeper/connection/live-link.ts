import type { Clock, Timer } from '../../core/clock.js';
import { ReturnCode } from './return-code.js';
import type { Session } from './session.js';
import type { Answers, Request, TransportLink } from './transport.js';
import { ZooKeeperError } from './zookeeper-error.js';

interface Pending {
  readonly request: Request;
  readonly sentAt: number;
  readonly reject: (error: ZooKeeperError) => void;
  /** False once it is known that the server never got it. */
  isSent: boolean;
}

/** Refused by the driver before anything was sent. */
const NOT_SENT = new Set<number>([ReturnCode.INVALIDSTATE, ReturnCode.BADARGUMENTS]);

/** The time, in ms, that a full turn of the event loop gets to deliver an answer that is already in the socket. */
const GRACE = 5;

/**
 * A link with its unanswered requests, and a watchdog over them.
 *
 * Answers come in the order of the requests, so one look at the oldest unanswered one tells whether the server is silent:
 * no timer per request is needed, and no request is ever given up alone. When the link goes, all of them are told
 * together that they may have been carried out, after the state of the connection has changed: who tries again at once
 * waits for the next link.
 */
export class LiveLink {
  /** In the order of sending. */
  readonly #pending = new Set<Pending>();
  #lastSentAt = 0;
  #watchdog?: Timer;

  /**
   * @param onAnswer the servers answered a request sent at that time
   * @param onLost a request failed for want of a link, or nothing was answered for a third of the session timeout; it is
   *   to `detach` this link
   */
  constructor(
    private readonly link: TransportLink,
    private readonly clock: Clock,
    private readonly onAnswer: (sentAt: number) => void,
    private readonly onLost: (reason: string) => void,
  ) {}

  send<O extends Request['op']>(request: Request & { readonly op: O }): Promise<Answers[O]> {
    return new Promise((resolve, reject) => {
      const sentAt = (this.#lastSentAt = this.clock.now());
      const pending: Pending = { request, sentAt, reject, isSent: true };
      this.#pending.add(pending);
      this.link.request(request, (rc, answer) => {
        if (!this.#pending.has(pending)) return; // the link was given up before
        pending.isSent = !NOT_SENT.has(rc);
        if (ZooKeeperError.isTransport(rc)) return this.onLost(`no answer to ${request.op}, ${rc}`);
        this.#pending.delete(pending);
        if (pending.isSent) this.onAnswer(sentAt);
        if (rc === ReturnCode.OK) resolve(answer as Answers[O]);
        else reject(new ZooKeeperError(rc, request.op, request.path));
      });
    });
  }

  /**
   * Sends a heartbeat when nothing was sent for a sixth of `timeout`, and tells when nothing was answered for a third: so a
   * server that falls silent is noticed within half of it, and the other half is left for finding another one.
   */
  watch(timeout: number): void {
    if (timeout === Infinity) return;
    const due = Math.min(this.#beatAt(timeout), this.#overdueAt(timeout));
    this.#watchdog = this.clock.setTimer(
      () => (this.#isOverdue(timeout) ? this.#lookAgain(timeout) : this.#beat(timeout)),
      Math.ceil(due - this.clock.now()),
      true,
    );
  }

  /** Gives the link up; the session, and what it made, may live on. */
  detach(session: Session | undefined): void {
    this.link.detach(session);
    this.#settle();
  }

  /** Ends the session, if the link is up, and the link. */
  close(): void {
    this.link.close();
    this.#settle();
  }

  /** Rejects what is unanswered and stops the watchdog. Idempotent. */
  #settle(): void {
    this.#watchdog?.cancel();
    const unanswered = [...this.#pending];
    this.#pending.clear();
    for (const { request, reject, isSent } of unanswered)
      reject(new ZooKeeperError(ReturnCode.CONNECTIONLOSS, request.op, request.path, isSent));
  }

  #beatAt(timeout: number): number {
    return this.#lastSentAt + timeout / 6;
  }

  #overdueAt(timeout: number): number {
    const [oldest] = this.#pending;
    return oldest === undefined ? Infinity : oldest.sentAt + timeout / 3;
  }

  #isOverdue(timeout: number): boolean {
    return this.clock.now() >= this.#overdueAt(timeout);
  }

  #beat(timeout: number): void {
    if (this.clock.now() >= this.#beatAt(timeout))
      this.send({ op: 'exists', path: '/', watch: false }).catch(() => {}); // a lost link tells its owner by itself
    this.watch(timeout);
  }

  /** After a stall of our own the timer comes before the answers that lie in the socket: let those in first. */
  #lookAgain(timeout: number): void {
    this.#watchdog = this.clock.setTimer(
      () =>
        this.#isOverdue(timeout)
          ? this.onLost(`no answer for ${Math.round(timeout / 3)} ms`)
          : this.#beat(timeout),
      GRACE,
      true,
    );
  }
}
