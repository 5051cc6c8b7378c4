import type { Clock, Timer } from '../../core/clock.js';
import { sleep } from '../../core/internal/timers.js';
import type { Session } from './session.js';
import type { Answers, Reply, Request, TransportLink } from './transport.js';
import { ReturnCode, ZooKeeperError } from './zookeeper-error.js';

interface Pending {
  readonly request: Request;
  readonly sentAt: number;
  readonly reject: (error: ZooKeeperError) => void;
  /** False once it is known that the server never received the request. */
  isSent: boolean;
}

/** Codes of requests that the driver rejected before sending anything. */
const NOT_SENT = new Set<number>([ReturnCode.INVALIDSTATE, ReturnCode.BADARGUMENTS]);

/** Operations carried out by the leader or with its consent. An error may come from the connected server alone. */
const LEADERS = new Set<Request['op']>(['create', 'delete', 'setData', 'setAcl', 'sync']);

/** Pause before a request to a busy server is repeated, in ms. */
const BUSY_PAUSE = 100;

/** Time for a full turn of the event loop to deliver an answer that is already in the socket, in ms. */
const GRACE = 5;

/**
 * A link with its unanswered requests and a watchdog over them.
 *
 * Answers come in the order of the requests, so the oldest unanswered request shows whether the server is silent: no timer
 * per request is needed, and no request is ever abandoned alone. When the link is lost, all of them reject together, as
 * possibly carried out unless they were never sent. The state of the connection has changed before, so a caller that
 * retries at once waits for the next link.
 */
export class PipelinedLink {
  /** In the order of sending. */
  readonly #pending = new Set<Pending>();
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

  send<O extends Request['op']>(request: Request & { readonly op: O }): Promise<Answers[O]> {
    return new Promise((resolve, reject) => {
      const sentAt = this.clock.now();
      if (request.op === 'sync') this.#lastAskedAt = sentAt;
      const pending: Pending = { request, sentAt, reject, isSent: true };
      this.#pending.add(pending);
      const answered: Reply = (rc, answer) => {
        if (!this.#pending.has(pending)) return; // the link was abandoned before
        pending.isSent = !NOT_SENT.has(rc);
        if (rc !== ReturnCode.OK && ZooKeeperError.isTransport(rc))
          return this.onLost(`no answer to ${request.op}, ${rc}`);
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
        this.#pending.delete(pending); // otherwise it would count as unanswered, and the link as silent
        throw error; // rejects
      }
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
   * Asks the leader for a sign of life if there was none for a sixth of `patience`, and calls `onLost` if a request stays
   * unanswered for a third of it. A server that falls silent, or is cut off from the leader, is thus noticed within half
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

  /** Rejects the unanswered requests and stops the watchdog. Idempotent. */
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
