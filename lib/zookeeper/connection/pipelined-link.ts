import type { Clock, Timer } from '../../core/clock.js';
import { sleep } from '../../core/internal/timers.js';
import type { Session } from './session.js';
import type { Answers, Reply, Request, TransportLink } from './transport.js';
import { ReturnCode, ZooKeeperError } from './zookeeper-error.js';

interface Pending {
  readonly request: Request;
  readonly answered: Reply;
  readonly reject: (error: unknown) => void;
  /** When it was handed to the link; undefined before. */
  sentAt?: number;
  /** False before it is handed to the link, and once it is known that the server never received the request. */
  isSent: boolean;
  isSettled: boolean;
}

/** Most requests that the server has not answered; like `globalOutstandingLimit` of a server, for all its clients. */
const WINDOW = 1_000;
/** Number of settled requests from which their places are removed. */
const MANY_SETTLED = 1_024;

/** Codes of requests that the driver rejected before sending anything. */
const NOT_SENT = new Set<number>([
  ReturnCode.INVALIDSTATE,
  ReturnCode.BADARGUMENTS,
  ReturnCode.UNIMPLEMENTED,
]);

/** Operations carried out by the leader or with its consent. An error may come from the connected server alone, as may that in a `multi`. */
const LEADERS = new Set<Request['op']>(['create', 'delete', 'setData', 'setAcl', 'sync']);

/** Pause before a request to a busy server is repeated, in ms. */
const BUSY_PAUSE = 100;

/** Time for a full turn of the event loop to deliver an answer that is already in the socket, in ms. */
export const GRACE = 5;

/**
 * A link with its unanswered requests and a watchdog over them.
 *
 * At most 1,000 requests are unanswered; the rest wait here, in order. A burst, or the waiters that set their watches again
 * after a reconnect, must not fill the memory of a server.
 *
 * Answers come in the order of the requests, so the oldest unanswered request shows whether the server is silent: no timer
 * per request is needed, and no request is ever abandoned alone. As long as oldest requests are answered, the link and the
 * server are alive, however much there is to do: to give up such a link would only move the work to another server. A server
 * that is cut off from the leader does not pass for one that is busy: it answers nothing behind a `sync` or a write. When the link is lost, all of them reject together, as
 * possibly carried out unless they were never sent. The state of the connection has changed before, so a caller that
 * retries at once waits for the next link.
 */
export class PipelinedLink {
  /** In the order of sending: places of settled ones, which are removed now and then; unanswered ones; those not sent yet. */
  readonly #requests: (Pending | undefined)[] = [];
  /** Index of the oldest unanswered request. */
  #oldest = 0;
  /** Index of the next request to send. */
  #next = 0;
  /** When the oldest request was last answered. */
  #progressAt = -Infinity;
  /** Time at which the last `sync` was sent, or the last write that the leader has carried out. */
  #lastAskedAt = 0;
  #watchdog?: Timer;

  /**
   * @param onAnswer called when a request sent at `sentAt` was answered; `byLeader`: the leader has carried it out
   * @param onLost called when a request failed for lack of a link, or nothing was answered for too long; it must `detach`
   *   this link
   */
  constructor(
    private readonly link: TransportLink,
    private readonly clock: Clock,
    private readonly onAnswer: (sentAt: number, byLeader: boolean) => void,
    private readonly onLost: (reason: string) => void,
  ) {}

  /** @param isUrgent true if it is sent at once, ahead of those that wait; for requests whose order does not matter */
  send<O extends Request['op']>(
    request: Request & { readonly op: O },
    isUrgent = false,
  ): Promise<Answers[O]> {
    return new Promise((resolve, reject) => {
      const answered: Reply = (rc, answer) => {
        if (pending.isSettled) return; // the link was abandoned before
        pending.isSent = !NOT_SENT.has(rc);
        if (rc !== ReturnCode.OK && ZooKeeperError.isTransport(rc))
          return this.onLost(`no answer to ${request.op}, ${rc}`);
        this.#settled(pending);
        const byLeader = rc === ReturnCode.OK && LEADERS.has(request.op);
        if (byLeader) this.#lastAskedAt = Math.max(this.#lastAskedAt, pending.sentAt!);
        if (pending.isSent) this.onAnswer(pending.sentAt!, byLeader);
        if (rc === ReturnCode.OK) resolve(answer as Answers[O]);
        else reject(new ZooKeeperError(rc, request.op, request.path));
        this.#sendNext();
      };
      const pending: Pending = { request, answered, reject, isSent: false, isSettled: false };
      if (isUrgent) this.#requests.splice(this.#next, 0, pending);
      else this.#requests.push(pending);
      if (isUrgent) this.#transmit();
      else this.#sendNext();
    });
  }

  /** Resolves when the server is up to date with the leader. Retries if a busy server rejects the request. */
  async sync(): Promise<void> {
    for (;;) {
      try {
        return await this.send({ op: 'sync', path: '/' });
      } catch (error) {
        if (!ZooKeeperError.is(error, ReturnCode.THROTTLEDOP)) throw error;
      }
      await sleep(this.clock, BUSY_PAUSE);
    }
  }

  /**
   * Asks the leader for a sign of life if there was none for a sixth of `patience`, and calls `onLost` if nothing that is
   * outstanding is answered for a third of it. A server that falls silent, or is cut off from the leader, is thus noticed within half
   * of `patience`; the other half is left for finding another server.
   *
   * @param patience how long the session can do without a sign of life, in ms
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

  /** Abandons the link; the session, and the nodes it created, may live on. */
  detach(session: Session | undefined): void {
    this.link.detach(session);
    this.#settle();
  }

  /** Ends the session, if the link is up, and closes the link. */
  close(): void {
    this.link.close();
    this.#settle();
  }

  #sendNext(): void {
    while (this.#next < this.#requests.length && this.#next - this.#oldest < WINDOW)
      this.#transmit();
  }

  #transmit(): void {
    const pending = this.#requests[this.#next++]!;
    const { request } = pending;
    pending.sentAt = this.clock.now();
    pending.isSent = true;
    if (request.op === 'sync') this.#lastAskedAt = pending.sentAt;
    try {
      this.link.request(request, pending.answered);
    } catch (error) {
      this.#settled(pending); // otherwise it would count as unanswered, and the link as silent
      pending.reject(error);
    }
  }

  #settled(pending: Pending): void {
    pending.isSettled = true;
    const before = this.#oldest;
    while (this.#requests[this.#oldest]?.isSettled) this.#requests[this.#oldest++] = undefined; // and with it its answer
    if (this.#oldest > before) this.#progressAt = this.clock.now();
    if (this.#oldest < MANY_SETTLED) return;
    this.#requests.splice(0, this.#oldest);
    this.#next -= this.#oldest;
    this.#oldest = 0;
  }

  /** Rejects the unanswered requests, and those not sent, and stops the watchdog. Idempotent. */
  #settle(): void {
    this.#watchdog?.cancel();
    const pending = this.#requests.splice(0).filter((it) => it?.isSettled === false) as Pending[];
    this.#oldest = this.#next = 0;
    for (const it of pending) it.isSettled = true;
    for (const { request, reject, isSent } of pending)
      reject(new ZooKeeperError(ReturnCode.CONNECTIONLOSS, request.op, request.path, isSent));
  }

  #beatAt(patience: number): number {
    return this.#lastAskedAt + patience / 6;
  }

  #overdueAt(patience: number): number {
    const sentAt = this.#requests[this.#oldest]?.sentAt;
    return sentAt === undefined ? Infinity : Math.max(sentAt, this.#progressAt) + patience / 3;
  }

  #isOverdue(patience: number): boolean {
    return this.clock.now() >= this.#overdueAt(patience);
  }

  #beat(patience: number): void {
    if (this.clock.now() >= this.#beatAt(patience))
      this.send({ op: 'sync', path: '/' }, true).catch(() => {}); // a lost link calls `onLost`
    this.watch(patience);
  }

  /** After a stall of this process the timer fires before the answers in the socket are read: lets those in first. */
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
