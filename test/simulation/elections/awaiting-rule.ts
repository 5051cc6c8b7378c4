import type { Leadership } from '../../../lib/core/election/leader-term.js';
import type { History } from '../history.js';
import { Times } from '../times.js';
import { Timing } from '../timing.js';
import type { Candidate } from './candidate.js';

/** One call of `awaitLeadership`, as its caller sees it. */
export interface Awaiting {
  readonly candidate: Candidate;
  readonly startedAt: number;
  /** When it times out; `Infinity` if it does not. */
  readonly endsAt: number;
  /** When the caller's signal aborted. */
  abortedAt?: number;
}

/** A caller that waits for leadership is notified as soon as its candidate leads, and waits no longer than requested. */
export class AwaitingRule {
  readonly #underWay = new Set<Awaiting>();

  constructor(
    private readonly now: () => number,
    private readonly history: History,
  ) {}

  began(awaiting: Awaiting): void {
    this.#underWay.add(awaiting);
  }

  elected(awaiting: Awaiting, leadership: Leadership): void {
    this.#end(awaiting);
    const { options, leadership: told } = awaiting.candidate;
    if (leadership !== told) this.history.accuse(`${options.id} leads without a notification`);
    this.history.note('awaited', options.id);
  }

  failed(awaiting: Awaiting, code: string): void {
    this.#end(awaiting);
    const { candidate, endsAt, abortedAt } = awaiting;
    const { client, id } = candidate.options;
    const isClientClosed = client.closedAt !== undefined;
    const reasons = [
      ...(endsAt < Times.never ? ['LOCK_TIMEOUT'] : []),
      ...(abortedAt !== undefined ? ['LOCK_ABORTED'] : []),
      ...(isClientClosed ? ['LOCK_CLIENT_CLOSED'] : []),
      ...(isClientClosed || !candidate.isStanding ? ['LOCK_ELECTION_CLOSED'] : []),
    ];
    if (!reasons.includes(code)) this.history.accuse(`${id} fails to wait with ${code}`);
    this.history.note(`failed with ${code}`, id);
  }

  check(): void {
    for (const awaiting of this.#underWay) {
      const { candidate, startedAt } = awaiting;
      const { process } = candidate.options.client;
      if (!process.isRunning || process.thawedAt >= this.now()) continue;
      this.#checkEnd(awaiting);
      if (candidate.isStanding && candidate.liveHold && this.now() > startedAt)
        this.history.accuse(
          `${candidate.options.id} leads, and a caller that waits for that does not know`,
        );
    }
  }

  #end(awaiting: Awaiting): void {
    this.#checkEnd(awaiting);
    this.#underWay.delete(awaiting);
  }

  #checkEnd({ candidate, startedAt, endsAt, abortedAt = Times.never }: Awaiting): void {
    const { process, closedAt = Times.never } = candidate.options.client;
    const end = Times.earliest(endsAt, abortedAt, closedAt);
    const latest = Times.latest(end, startedAt, process.thawedAt) + Timing.rounding;
    if (this.now() > latest)
      this.history.accuse(`${candidate.options.id} waits on after the end at ${latest} ms`);
  }
}
