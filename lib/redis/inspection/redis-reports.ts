import { randomUUID } from 'node:crypto';
import type { Clock } from '../../core/clock.js';
import { LockConnectionError } from '../../core/errors/index.js';
import { settleWithin, sleep } from '../../core/internal/timers.js';
import {
  type ExchangeLimits,
  type ExchangeTopic,
  LONGEST_REPORT,
  type MakeReport,
  type PeerAnswers,
  type PeerReports,
} from '../../core/peer-reports.js';
import { isReply } from '../connection/redis-error.js';
import type { Channel } from '../connection/subscriptions.js';
import type { RecipeContext } from '../recipe-context.js';

/** One exchange over several servers: it works while one of them does. The same report may arrive over each. */
export class CompositeReports implements PeerReports {
  constructor(
    private readonly clock: Clock,
    private readonly parts: readonly PeerReports[],
  ) {}

  answer(report: MakeReport): void {
    for (const part of this.parts) part.answer(report);
  }

  async ask(timeout: number): Promise<PeerAnswers> {
    const asked = this.parts.map((part) => part.ask(timeout));
    const answers = await settledWithin(this.clock, 2 * timeout, asked);
    return {
      reports: answers.flatMap(({ reports }) => reports),
      unread: Math.max(...answers.map(({ unread }) => unread)),
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.parts.map((part) => part.close()));
  }
}

/** Time after which the answers, and the number of the last question, expire, in ms. */
const LIFE = 30_000;

/** A process that has not answered so many questions is forgotten. */
const MISSED = 100;

/** Delay between two reads of the answers, in ms. */
const LOOK_AGAIN_AFTER = 20;

/** Member of the sorted set whose score is the number of the last question. */
const ASKED = 'asked';

/**
 * The asking process increments the number of the question in a sorted set, and publishes it. Each listening process writes
 * its report to a key of its own, and then that number, as its score, to the set: so what ended processes have left is never
 * read, and expires.
 */
export class RedisReports implements PeerReports {
  readonly #id = randomUUID();
  readonly #processes: string;
  readonly #reports: string;
  readonly #name: string;
  #isClosed = false;
  #hasAnswered = false;
  #channel?: Channel;
  #stop?: () => void;
  /** The answer under way. */
  #put?: Promise<void>;
  #isAskedAgain = false;

  constructor(
    private readonly context: RecipeContext,
    prefix: string,
    private readonly limits: ExchangeLimits,
    topic: ExchangeTopic,
  ) {
    this.#processes = `nestjs-interlock:${topic}:processes:{${prefix}}`;
    this.#reports = `nestjs-interlock:${topic}:report:{${prefix}}`;
    this.#name = `nestjs-interlock:${topic}:channel:{${prefix}}`;
  }

  answer(report: MakeReport): void {
    const { connection } = this.context;
    void connection.connected.then(() => {
      if (this.#isClosed) return;
      const channel = (this.#channel = connection.subscriptions.join(this.#name));
      this.#stop = channel.onSignal(() => this.#answer(report));
    });
  }

  async ask(timeout: number): Promise<PeerAnswers> {
    const { connection, clock } = this.context;
    expectReady(this.context);
    const deadline = clock.now() + timeout;
    const asked = Number(await connection.read('zincrby', this.#processes, 1, ASKED));
    await connection.read('pexpire', this.#processes, LIFE);
    await connection.read('zremrangebyscore', this.#processes, '-inf', asked - MISSED);
    const { publishCommand, isCluster } = connection;
    const listening = Number(await connection.read(publishCommand, this.#name, asked));
    const isCounted = !isCluster || publishCommand === 'spublish'; // a plain message is counted on one node of several
    const others = listening - (this.#channel?.isActive ? 1 : 0);
    const expected = Math.min(others, this.limits.processes);
    for (;;) {
      const ids = await this.#answered(asked);
      const isAll = isCounted && ids.length >= expected;
      if (isAll || clock.now() >= deadline) return await this.#read(ids, asked);
      await sleep(clock, LOOK_AGAIN_AFTER);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop?.();
    const { connection } = this.context;
    if (this.#channel) connection.subscriptions.leave(this.#channel);
    await this.#put;
    if (!this.#hasAnswered || !connection.isReady) return;
    await connection.read('zrem', this.#processes, this.#id).catch(() => {});
    await connection.read('del', this.#keyOf(this.#id)).catch(() => {});
  }

  #keyOf(id: string): string {
    return `${this.#reports}:${id}`;
  }

  /** One answer at a time, however many questions arrive meanwhile. */
  #answer(report: MakeReport): void {
    this.#isAskedAgain = this.#put !== undefined;
    // If the server is unreachable or refuses, this process gives no answer.
    this.#put ??= this.#write(report)
      .catch(() => {})
      .finally(() => {
        this.#put = undefined;
        if (this.#isAskedAgain && !this.#isClosed) this.#answer(report);
      });
  }

  /** A signal without a question, such as a new subscription, finds no number, and is not answered. */
  async #write(report: MakeReport): Promise<void> {
    const { connection } = this.context;
    const asked = Number(await connection.read('zscore', this.#processes, ASKED));
    if (!(asked > 0) || this.#isClosed) return;
    this.#hasAnswered = true;
    const text = await report(this.limits.reportSize);
    await connection.read('set', this.#keyOf(this.#id), text, 'px', LIFE);
    await connection.read('zadd', this.#processes, asked, this.#id);
    await connection.read('pexpire', this.#processes, LIFE);
  }

  /** Ids of the other processes that have answered that question or a later one, one more than are read. */
  async #answered(asked: number): Promise<string[]> {
    const most = this.limits.processes + 1;
    const range = [asked, '+inf', 'limit', 0, most + 2]; // two are the question and this process
    const members = await this.context.connection.read('zrangebyscore', this.#processes, ...range);
    return (members as string[]).filter((id) => id !== ASKED && id !== this.#id).slice(0, most);
  }

  async #read(ids: readonly string[], asked: number): Promise<PeerAnswers> {
    const { connection } = this.context;
    const reports: string[] = [];
    // One after the other: the commands of locks do not queue behind many long answers.
    for (const id of ids.slice(0, this.limits.processes)) {
      const text = await this.#readOne(id);
      if (text !== undefined) reports.push(text);
    }
    if (ids.length <= this.limits.processes) return { reports, unread: 0 };
    const all = Number(await connection.read('zcount', this.#processes, asked, '+inf'));
    return { reports, unread: Math.max(1, all - 1 - this.limits.processes) }; // one is the question
  }

  /** The report of a process; `undefined` if it has expired, or was removed. */
  async #readOne(id: string): Promise<string | undefined> {
    try {
      const range = [0, LONGEST_REPORT];
      const text = String(
        await this.context.connection.read('getrange', this.#keyOf(id), ...range),
      );
      if (text === '') return undefined;
      return Buffer.byteLength(text) > LONGEST_REPORT ? '' : text;
    } catch (error) {
      if (isReply(error)) return ''; // the key is not a report
      throw error;
    }
  }
}

/** The answers that arrive within `ms` milliseconds; rejects when there are none. */
export async function settledWithin<T>(
  clock: Clock,
  ms: number,
  asked: readonly Promise<T>[],
): Promise<T[]> {
  const answers: T[] = [];
  let error: unknown = new Error(`no server has answered within ${ms} ms`);
  const all = asked.map((each) =>
    each.then(
      (answer) => void answers.push(answer),
      (reason) => void (error = reason),
    ),
  );
  await settleWithin(ms, clock, Promise.all(all));
  if (answers.length === 0) throw error;
  return [...answers];
}

/** @throws LockConnectionError unless commands can be sent now: those of an operator are not queued for later */
export function expectReady({ client, connection }: RecipeContext): void {
  if (connection.isReady) return;
  throw new LockConnectionError(
    `Lock client "${client}" is not connected to its server now. Check that it runs.`,
    { client },
  );
}
