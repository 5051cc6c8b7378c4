import { randomUUID } from 'node:crypto';
import type { Clock } from '../../core/clock.js';
import { LockConnectionError } from '../../core/errors/index.js';
import { settleWithin, sleep } from '../../core/internal/timers.js';
import type { PeerReports } from '../../core/lock-inspection.js';
import type { Channel } from '../connection/subscriptions.js';
import type { RecipeContext } from '../recipe-context.js';

/** One exchange over several servers: it works while one of them does. The same report may arrive over each. */
export class CompositeReports implements PeerReports {
  constructor(
    private readonly clock: Clock,
    private readonly parts: readonly PeerReports[],
  ) {}

  answer(report: () => string): void {
    for (const part of this.parts) part.answer(report);
  }

  async ask(timeout: number): Promise<string[]> {
    const asked = this.parts.map((part) => part.ask(timeout));
    const answers = await settledWithin(this.clock, 2 * timeout, asked);
    return answers.flat();
  }

  async close(): Promise<void> {
    await Promise.all(this.parts.map((part) => part.close()));
  }
}

/** Time after the last question until the answers expire, in ms. */
const LIFE = 60_000;

/** Delay between two reads of the answers, in ms. */
const LOOK_AGAIN_AFTER = 20;

/**
 * The asking process increments a number in a hash and publishes it; each listening process writes its answer, with that
 * number, to a field of its own.
 */
export class RedisReports implements PeerReports {
  readonly #id = randomUUID();
  readonly #hash: string;
  readonly #name: string;
  #isClosed = false;
  #channel?: Channel;
  #stop?: () => void;

  constructor(
    private readonly context: RecipeContext,
    prefix: string,
  ) {
    this.#hash = `nestjs-interlock:inspector:{${prefix}}`;
    this.#name = `nestjs-interlock:inspector:channel:{${prefix}}`;
  }

  answer(report: () => string): void {
    const { connection } = this.context;
    void connection.connected.then(() => {
      if (this.#isClosed) return;
      const channel = (this.#channel = connection.subscriptions.join(this.#name));
      // If the server is unreachable or refuses, this process gives no answer.
      this.#stop = channel.onSignal(() => void this.#put(report).catch(() => {}));
    });
  }

  async ask(timeout: number): Promise<string[]> {
    const { connection, clock } = this.context;
    expectReady(this.context);
    const deadline = clock.now() + timeout;
    const asked = Number(await connection.read('hincrby', this.#hash, 'asked', 1));
    await connection.read('pexpire', this.#hash, LIFE);
    const listening = Number(await connection.read(connection.publishCommand, this.#name, asked));
    const others = listening - (this.#channel?.isActive ? 1 : 0);
    for (;;) {
      const answers = await this.#answers(asked);
      // In a cluster with plain channels, the number of listeners is not known.
      const isAll = connection.isCluster ? false : answers.length >= others;
      if (isAll || clock.now() >= deadline) return answers;
      await sleep(clock, LOOK_AGAIN_AFTER);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop?.();
    const { connection } = this.context;
    if (this.#channel) connection.subscriptions.leave(this.#channel);
    if (connection.isReady) await connection.read('hdel', this.#hash, this.#id).catch(() => {});
  }

  async #put(report: () => string): Promise<void> {
    const { connection } = this.context;
    const asked = Number(await connection.read('hget', this.#hash, 'asked'));
    if (asked > 0) await connection.read('hset', this.#hash, this.#id, `${asked} ${report()}`);
  }

  /** Answers of the other processes to that question or a later one. */
  async #answers(asked: number): Promise<string[]> {
    const { connection } = this.context;
    const fields = (await connection.read('hkeys', this.#hash)) as string[];
    const others = fields.filter((field) => field !== 'asked' && field !== this.#id);
    if (others.length === 0) return [];
    const texts = (await connection.read('hmget', this.#hash, ...others)) as (string | null)[];
    return texts.flatMap((text) => {
      if (text === null) return [];
      const space = text.indexOf(' ');
      return Number(text.slice(0, space)) >= asked ? [text.slice(space + 1)] : [];
    });
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
