import { randomUUID } from 'node:crypto';
import type { Timer } from '../../core/clock.js';
import { sleep } from '../../core/internal/timers.js';
import {
  type ExchangeLimits,
  LONGEST_REPORT,
  type MakeReport,
  type PeerAnswers,
  type PeerReports,
} from '../../core/peer-reports.js';
import { CreateMode, type WatchEvent } from '../connection/zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import { listChildren, nextStateChange } from '../nodes/node-requests.js';
import type { RecipeContext } from '../recipe-context.js';

const EMPTY = Buffer.alloc(0);

/** Pause between two checks for answers, and after an error, in ms. */
const LOOK_AGAIN_AFTER = 20;
const TRY_AGAIN_AFTER = 1_000;

/** Time after the last question in which a process keeps its node, in ms. */
const LIFE = 60_000;

/** After this time without a question from here, it is not known which processes answer, in ms. */
const FRESH = LIFE / 2;

/** Maximum length of a report, in bytes, once the servers have hung up on a longer one. */
const SHORT_REPORT = 16_384;

/**
 * Each process watches the node `ask`. A process asks by writing that node; the others answer in ephemeral nodes of their
 * own, and a node that was written after the question is the answer.
 *
 * Invariants:
 * - Nothing is written before the first question, and at most one report for each question.
 * - A server hangs up on a request that is too long for it, and with it on the session that holds the locks: so after the
 *   first time, the reports of this process stay short.
 */
export class ZooKeeperReports implements PeerReports {
  readonly #id = randomUUID();
  readonly #question: string;
  readonly #answers: string;
  #maxBytes: number;
  #askedAt = -Infinity;
  #hasNode = false;
  #isClosed = false;
  #stop?: () => void;

  constructor(
    private readonly context: RecipeContext,
    directory: string,
    private readonly limits: ExchangeLimits,
  ) {
    this.#question = `${directory}/ask`;
    this.#answers = `${directory}/processes`;
    this.#maxBytes = limits.reportSize;
  }

  answer(report: MakeReport): void {
    void this.#answerOn(report);
  }

  async ask(timeout: number): Promise<PeerAnswers> {
    const { clock } = this.context;
    const now = clock.now();
    const deadline = now + timeout;
    const areKnown = now - this.#askedAt < FRESH; // processes that were not asked have no node
    this.#askedAt = now;
    const asked = await this.#ask();
    for (;;) {
      const all = await listChildren(this.context.connection, this.#answers);
      const others = all.filter((name) => name !== this.#id).sort();
      const read = others.slice(0, this.limits.processes);
      const answered = await this.#answered(read, asked);
      const isComplete = areKnown && answered.length === read.length;
      if (isComplete || clock.now() >= deadline) {
        const reports: string[] = [];
        // One after the other: the requests of locks do not queue behind many long answers.
        for (const name of answered) reports.push(await this.#read(name));
        return { reports, unread: others.length - read.length };
      }
      await sleep(clock, LOOK_AGAIN_AFTER);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop?.();
    await this.#removeNode();
  }

  get #own(): string {
    return `${this.#answers}/${this.#id}`;
  }

  /** Writes the question and resolves to its transaction id. */
  async #ask(): Promise<number> {
    const { connection, parents } = this.context;
    for (;;)
      try {
        return (await connection.setData(this.#question, EMPTY)).mzxid;
      } catch (error) {
        if (!ZooKeeperError.is(error, ReturnCode.NONODE)) throw error;
        await parents.make(this.#answers);
        await parents.create(this.#question, EMPTY).catch(unlessThere);
      }
  }

  /** Those of the processes that have answered the question of that transaction. */
  async #answered(names: readonly string[], asked: number): Promise<string[]> {
    const { connection } = this.context;
    const stats = await Promise.all(
      names.map((name) => connection.exists(`${this.#answers}/${name}`).catch(unlessHidden)),
    );
    return names.filter((_, i) => stats[i] !== undefined && stats[i].mzxid > asked);
  }

  async #read(name: string): Promise<string> {
    try {
      const { data } = await this.context.connection.getData(`${this.#answers}/${name}`);
      return data.length > LONGEST_REPORT ? '' : data.toString();
    } catch (error) {
      if (error instanceof ZooKeeperError && !error.isTransient) return ''; // it has just ended, or it hides its node
      throw error;
    }
  }

  async #answerOn(report: MakeReport): Promise<void> {
    const { connection } = this.context;
    let seen: number | undefined;
    while (!this.#isClosed)
      try {
        let tell!: (event: WatchEvent) => void;
        const asked = new Promise<void>((resolve) => (tell = () => resolve()));
        const stop = () => {
          connection.unwatch(this.#question, tell);
          tell({ type: 'disconnected', path: this.#question });
        };
        this.#stop = stop;
        const question = (await connection.exists(this.#question, tell))?.mzxid ?? 0;
        const isNew = seen !== undefined && question > seen;
        seen = question; // also if the report is refused: it is not sent again
        if (isNew && !this.#isClosed) await this.#write(report);
        await this.#keepNodeUntil(asked);
      } catch {
        // A question that could not be read, or answered, is left to the others; this process waits for the next one.
        this.#stop?.();
        if (this.#isClosed) return;
        if (connection.isConnected) await this.#pause();
        else await this.#untilStateChange();
      }
  }

  async #pause(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = this.context.clock.setTimer(resolve, TRY_AGAIN_AFTER, true);
      const stop = () => {
        timer.cancel();
        resolve();
      };
      this.#stop = stop;
    });
  }

  async #write(report: MakeReport): Promise<void> {
    const { connection, parents, nodeAcl } = this.context;
    const answer = Buffer.from(await report(this.#maxBytes));
    if (this.#isClosed) return;
    try {
      this.#hasNode = true;
      await connection.setData(this.#own, answer);
    } catch (error) {
      if (!ZooKeeperError.is(error, ReturnCode.NONODE)) throw this.#refused(error, answer);
      await parents.make(this.#answers);
      try {
        await connection.create(this.#own, answer, CreateMode.EPHEMERAL, nodeAcl);
      } catch (again) {
        if (!ZooKeeperError.is(again, ReturnCode.NODEEXISTS)) throw this.#refused(again, answer);
      }
    }
  }

  /** Whatever the reason of a lost connection was: a long report is not tried twice. */
  #refused(error: unknown, { length }: Buffer): unknown {
    if (!(error instanceof ZooKeeperError && error.maybeDone) || length <= SHORT_REPORT)
      return error;
    this.#maxBytes = Math.min(this.#maxBytes, SHORT_REPORT);
    process.emitWarning(
      `Lock client "${this.context.client}" lost its connection while it sent a report of ${length} bytes to other processes. Its reports are limited to ${SHORT_REPORT} bytes from now on. Compare jute.maxbuffer of the ZooKeeper servers with the option \`reportSize\` of LockInspectorModule.`,
    );
    return error;
  }

  /** Removes the node when no question has come for a while: it may be long. */
  async #keepNodeUntil(asked: Promise<void>): Promise<void> {
    let timer: Timer | undefined;
    if (this.#hasNode)
      timer = this.context.clock.setTimer(() => void this.#removeNode(), LIFE, true);
    await asked.finally(() => timer?.cancel());
  }

  /** Otherwise the node is removed with the session. */
  async #removeNode(): Promise<void> {
    if (this.#hasNode) await this.context.connection.delete(this.#own).catch(() => {});
  }

  async #untilStateChange(): Promise<void> {
    const { changed, stop } = nextStateChange(this.context.connection);
    const closed = new Promise<void>((resolve) => (this.#stop = resolve));
    await Promise.race([changed, closed]);
    stop();
  }
}

/** Newer servers refuse to say whether a node is there that may not be read. */
function unlessHidden(error: unknown): undefined {
  if (!ZooKeeperError.is(error, ReturnCode.NOAUTH)) throw error;
}

function unlessThere(error: unknown): void {
  if (!ZooKeeperError.is(error, ReturnCode.NODEEXISTS)) throw error;
}
