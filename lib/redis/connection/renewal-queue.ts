import type { Clock, Timer } from '../../core/clock.js';
import { isRenewed, type Renewable } from './renewal-schedule.js';

/** Maximum number of commands to one server that are not answered. */
const IN_FLIGHT = 32;
/** Maximum number of commands that are begun in one turn of the event loop. */
const AT_ONCE = 16;

/** Holds that wait to be renewed by one command. */
interface Batch {
  readonly holds: readonly Renewable[];
  /** See {@link firstDeadline}. */
  readonly deadline: number;
}

/**
 * Renewals that are due at one server. However many there are, few are sent at a time, so neither the server nor this process
 * is kept from anything else; those whose leases end first are sent first.
 *
 * Invariant: `renew` is called for a batch no later than at its deadline, whether the server answers or not, or as
 * soon after that as the event loop allows. It has to find the holds that are lost by then.
 */
export class RenewalQueue {
  /** A binary heap: no batch has an earlier deadline than the one at half of its index. Index 0 is not used. */
  readonly #waiting: (Batch | undefined)[] = [undefined];
  #inFlight = 0;
  #leftInTurn = AT_ONCE;
  #timer?: Timer | undefined;
  #wakesAt = 0;

  /** @param renew sends one command for the holds; resolves when it needs no answer any more */
  constructor(
    private readonly clock: Clock,
    private readonly renew: (holds: readonly Renewable[]) => Promise<void>,
  ) {}

  add(holds: readonly Renewable[]): void {
    if (holds.length === 0) return;
    this.#push({ holds, deadline: firstDeadline(holds) });
    this.#next();
  }

  #next(): void {
    for (let first = this.#waiting[1]; first; first = this.#waiting[1]) {
      const left = first.deadline - this.clock.now();
      if (this.#inFlight >= IN_FLIGHT && left > 0) return this.#wake(left);
      if (this.#leftInTurn === 0) return this.#wake(0);
      this.#leftInTurn -= 1;
      this.#pop();
      void this.#begin(first);
    }
    if (this.#leftInTurn < AT_ONCE) this.#wake(0);
  }

  async #begin({ holds }: Batch): Promise<void> {
    this.#inFlight += 1;
    try {
      await this.renew(holds);
    } finally {
      this.#inFlight -= 1;
      this.#next();
    }
  }

  /** A timer that fires earlier stays: were it set anew by each batch that is added, it might never fire. */
  #wake(ms: number): void {
    const at = this.clock.now() + ms;
    if (this.#timer !== undefined && this.#wakesAt <= at) return;
    this.#timer?.cancel();
    this.#wakesAt = at;
    const turn = () => {
      this.#timer = undefined;
      this.#leftInTurn = AT_ONCE;
      this.#next();
    };
    this.#timer = this.clock.setTimer(turn, ms, true);
  }

  #push(batch: Batch): void {
    const waiting = this.#waiting;
    let at = waiting.length;
    for (; at > 1 && batch.deadline < waiting[at >> 1]!.deadline; at >>= 1)
      waiting[at] = waiting[at >> 1];
    waiting[at] = batch;
  }

  /** Removes the first one. */
  #pop(): void {
    const waiting = this.#waiting;
    const last = waiting.pop()!;
    if (waiting.length === 1) return;
    let at = 1;
    for (let child = 2; child < waiting.length; child = 2 * at) {
      if (child + 1 < waiting.length && waiting[child + 1]!.deadline < waiting[child]!.deadline)
        child += 1;
      if (last.deadline <= waiting[child]!.deadline) break;
      waiting[at] = waiting[child];
      at = child;
    }
    waiting[at] = last;
  }
}

/** The first deadline of the holds that are renewed, or of all where none is: those that are only asked for end by themselves. */
export function firstDeadline(holds: readonly Renewable[]): number {
  const renewals = holds.filter(isRenewed);
  const urgent = renewals.length > 0 ? renewals : holds;
  return urgent.reduce((first, { deadline }) => Math.min(first, deadline), Infinity);
}
