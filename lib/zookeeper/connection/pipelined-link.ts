import type { Clock, Timer } from '../../core/clock.js';
import type { Session } from './session.js';
import type { Answers, Reply, Request, TransportLink } from './transport.js';
import { ReturnCode, ZooKeeperError } from './zookeeper-error.js';

interface Pending {
  readonly request: Request;
  readonly sentAt: number;
  readonly reject: (error: ZooKeeperError) => void;
  /** False once it is known that the server never got it. */
  isSent: boolean;
}

/** Refused by the driver before anything was sent. */
const NOT_SENT = new Set<number>([ReturnCode.INVALIDSTATE, ReturnCode.BADARGUMENTS]);

/** What is carried out by the leader, or with its say. An error may be this server's own. */
const LEADERS = new Set<Request['op']>(['create', 'delete', 'setData', 'setAcl', 'sync']);

/** Pause before a busy server is asked again, in ms. */
const BUSY_PAUSE = 100;

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
export class PipelinedLink {
  /** In the order of sending. */
  readonly #pending = new Set<Pending>();
  /** When the last `sync` was sent, or a write that the leader has carried out. */
  #lastAskedAt = 0;
  #watchdog?: Timer;

  /**
   * @param onAnswer a request sent at that time was answered, perhaps by the leader
   * @param onLost a request failed for want of a link, or nothing was answered for too long; it is to `detach` this link
   */
  constructor(
    private readonly link: TransportLink,
    private readonly clock: Clock,
    private readonly onAnswer: (sentAt: number, byLeader: boolean) => void,
    private readonly onLost: (reason: string) => void,
  ) {}

  send<O extends Request['op']>(request: Request & { readonly op: O }): Promise<Answers[O]> {
    return new Promise((resolve, reject) => {
      const sentAt = this.clock.now();
      if (request.op === 'sync') this.#lastAskedAt = sentAt;
      const pending: Pending = { request, sentAt, reject, isSent: true };
      this.#pending.add(pending);
      const answered: Reply = (rc, answer) => {
        if (!this.#pending.has(pending)) return; // the link was given up before
        pending.isSent = !NOT_SENT.has(rc);
        if (ZooKeeperError.isTransport(rc)) return this.onLost(`no answer to ${request.op}, ${rc}`);
        this.#pending.delete(pending);
        const byLeader = rc === ReturnCode.OK && LEADERS.has(request.op);
        if (byLeader) this.#lastAskedAt = Math.max(this.#lastAskedAt, sentAt);
        if (pending.isSent) this.onAnswer(sentAt, byLeader);
        if (rc === ReturnCode.OK) resolve(answer as Answers[O]);
        else reject(new ZooKeeperError(rc, request.op, request.path));
      };
      try {
        this.link.request(request, answered);
      } catch (error) {
        this.#pending.delete(pending); // else it would count as unanswered, and the link as silent
        throw error; // rejects
      }
    });
  }

  /** Resolves when the server is up to date with the leader; one that is busy may refuse, and is asked again. */
  async sync(): Promise<void> {
    for (;;) {
      try {
        return await this.send({ op: 'sync', path: '/' });
      } catch (error) {
        if (!ZooKeeperError.is(error, ReturnCode.THROTTLEDOP)) throw error;
      }
      await new Promise<void>((resolve) => this.clock.setTimer(resolve, BUSY_PAUSE, true));
    }
  }

  /**
   * Asks the leader for a sign of life when there was none for a sixth of `patience`, and calls `onLost` when nothing
   * was answered for a third: so a server that falls silent, or is cut off from the leader, is noticed within half of it, and the
   * other half is left for finding another one.
   *
   * @param patience how long the session can do without, in ms
   */
  watch(patience: number): void {
    if (patience === Infinity) return;
    const due = Math.min(this.#beatAt(patience), this.#overdueAt(patience));
    this.#watchdog = this.clock.setTimer(
      () => (this.#isOverdue(patience) ? this.#lookAgain(patience) : this.#beat(patience)),
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

  #beatAt(patience: number): number {
    return this.#lastAskedAt + patience / 6;
  }

  #overdueAt(patience: number): number {
    const [oldest] = this.#pending;
    return oldest === undefined ? Infinity : oldest.sentAt + patience / 3;
  }

  #isOverdue(patience: number): boolean {
    return this.clock.now() >= this.#overdueAt(patience);
  }

  #beat(patience: number): void {
    if (this.clock.now() >= this.#beatAt(patience))
      this.send({ op: 'sync', path: '/' }).catch(() => {}); // a lost link calls `onLost`
    this.watch(patience);
  }

  /** After a stall of our own the timer comes before the answers that lie in the socket: let those in first. */
  #lookAgain(patience: number): void {
    this.#watchdog = this.clock.setTimer(
      () =>
        this.#isOverdue(patience)
          ? this.onLost(`no answer for ${Math.round(patience / 3)} ms`)
          : this.#beat(patience),
      GRACE,
      true,
    );
  }
}
