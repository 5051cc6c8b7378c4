import type { Clock, Timer } from '../clock.js';
import { nextTurn, settleWithin } from '../internal/timers.js';
import type { ExchangeLimits, ExchangeTopic, PeerReports } from '../peer-reports.js';
import {
  type DeadlockReport,
  LONGEST_REPORT,
  parseDeadlockReport,
  writeReport,
} from './deadlock-report.js';

/** Time in which the servers have to carry out the rest of a question, in ms: without a connection it may never end. */
const PATIENCE = 2_000;

/** Time that the servers have for what a closing client removes, in ms: what is left expires. */
const LEAVES_WITHIN = 1_000;

const LIMITS: ExchangeLimits = { reportSize: LONGEST_REPORT, processes: 100 };

/** The servers of a client, as far as an exchange is concerned. */
export interface ExchangeServers {
  exchange(limits: ExchangeLimits, topic: ExchangeTopic): PeerReports | undefined;
}

/**
 * What a client exchanges with other clients of the same servers about its waits.
 *
 * Invariant: it listens only between a question and the next `leave`, and never after `close`.
 */
export class DeadlockExchange {
  #reports?: PeerReports | undefined;
  /** Of the exchanges that were left. */
  #left?: Promise<unknown>;
  #isClosed = false;

  /** @param own returns the report of this client */
  constructor(
    private readonly clock: Clock,
    private readonly servers: ExchangeServers,
    private readonly own: () => DeadlockReport,
  ) {}

  /**
   * Resolves to the reports of the others that answer within `timeout` ms, and listens from then on. Rejects when the servers do
   * not answer, or do not allow it: then it does not listen, as a subscription that is refused would be tried again and again.
   */
  async ask(timeout: number): Promise<readonly DeadlockReport[]> {
    const reports = this.#join();
    if (reports === undefined) return [];
    let timer: Timer | undefined;
    const late = new Promise<never>((_, reject) => {
      const giveUp = () => reject(new Error('no answer'));
      timer = this.clock.setTimer(giveUp, timeout + PATIENCE, true);
    });
    try {
      const answers = await Promise.race([reports.ask(timeout), late]);
      return await parsed(answers.reports);
    } catch (error) {
      this.leave();
      throw error;
    } finally {
      timer?.cancel();
    }
  }

  /** Listens no more, until the next question. */
  leave(): void {
    const reports = this.#reports;
    this.#reports = undefined;
    if (reports !== undefined) this.#left = Promise.all([this.#left, reports.close()]);
  }

  /** Listens no more; resolves when nothing of this client is left on the servers, or when these do not answer. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.leave();
    if (this.#left !== undefined) await settleWithin(LEAVES_WITHIN, this.clock, this.#left);
  }

  #join(): PeerReports | undefined {
    if (this.#reports !== undefined || this.#isClosed) return this.#reports;
    this.#reports = this.servers.exchange(LIMITS, 'deadlocks');
    this.#reports?.answer((maxBytes) => writeReport(this.own(), maxBytes));
    return this.#reports;
  }
}

/** Those that make sense. There may be many long ones: between two of them, the process does other work. */
async function parsed(texts: readonly string[]): Promise<DeadlockReport[]> {
  const reports: DeadlockReport[] = [];
  let length = 0;
  for (const text of texts) {
    length += text.length;
    if (length > LONGEST_REPORT) {
      await new Promise<void>((resolve) => nextTurn(resolve));
      length = text.length;
    }
    const report = parseDeadlockReport(text);
    if (report !== undefined) reports.push(report);
  }
  return reports;
}
