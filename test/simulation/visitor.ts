import { LockLostError, LockNotHeldError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { currentOperation } from './current-operation.js';
import type { Judge } from './judge.js';
import type { LockQueue } from './lock-queue.js';
import type { ObservedHold } from './observed-hold.js';
import type { SimulatedClient } from './simulated-client.js';

/** A lease with the hold that it belongs to, and the visit in whose scope it was acquired. */
export interface Visit {
  readonly lease: Lease;
  readonly hold: ObservedHold;
  readonly outer?: Visit;
}

/** How long a visitor waits. */
export interface Patience {
  /** Milliseconds. Default: for ever. */
  readonly wait?: number;
  /** After so many milliseconds its signal aborts; 0: before the call. */
  readonly abortAfter?: number;
}

/** A user of one lock of one client, who tells the judge all that he sees. */
export class Visitor {
  constructor(
    private readonly judge: Judge,
    readonly client: SimulatedClient,
    private readonly key: string,
    private readonly queue: LockQueue,
  ) {}

  /**
   * Does not reject; `undefined`: not granted.
   *
   * @param outer the visit in whose scope this is called
   */
  acquire(patience: Patience = {}, outer?: Visit): Promise<Visit | undefined> {
    return this.#ask('acquire', patience, outer);
  }

  /** As {@link acquire}, without waiting for others. */
  tryAcquire(patience: Patience = {}, outer?: Visit): Promise<Visit | undefined> {
    return this.#ask('tryAcquire', patience, outer);
  }

  /** As `Lock.using`, with a function that does not reject. Does not reject itself; false: not granted. */
  async using(
    stay: (visit: Visit) => Promise<void>,
    patience: Patience = {},
    outer?: Visit,
  ): Promise<boolean> {
    const { operation, options, stop } = this.#begin(patience, outer, false);
    let isInside = false;
    const visit = async (lease: Lease) => {
      isInside = true;
      const hold = this.judge.granted(operation, lease);
      await stay({ lease, hold, outer });
      this.judge.releasing(hold, lease);
    };
    try {
      await currentOperation.run(operation, () => this.#mutex.using(visit, options));
    } catch (error) {
      if (isInside) throw error;
      if (error instanceof LockLostError) this.judge.missed(operation);
      else this.judge.failed(operation, error);
    } finally {
      stop();
    }
    return isInside;
  }

  /** Asks for the fencing token. */
  async fence({ lease, hold }: Visit): Promise<void> {
    try {
      this.judge.fenced(hold, await lease.fencingToken());
    } catch (error) {
      const isOver = error instanceof LockLostError || error instanceof LockNotHeldError;
      if (!isOver || lease.isHeld) this.judge.history.accuse(`no token: ${String(error)}`);
    }
  }

  async release({ lease, hold }: Visit): Promise<void> {
    this.judge.releasing(hold, lease);
    await lease.release();
  }

  get #mutex() {
    return this.client.locks.mutex(this.key);
  }

  async #ask(
    method: 'acquire' | 'tryAcquire',
    patience: Patience,
    outer: Visit | undefined,
  ): Promise<Visit | undefined> {
    const { operation, options, stop } = this.#begin(patience, outer, method === 'tryAcquire');
    try {
      const lease = await currentOperation.run(operation, () => this.#mutex[method](options));
      if (lease) return { lease, hold: this.judge.granted(operation, lease), outer };
      this.judge.refused(operation);
    } catch (error) {
      this.judge.failed(operation, error);
    } finally {
      stop();
    }
    return undefined;
  }

  #begin({ wait, abortAfter }: Patience, outer: Visit | undefined, isTry: boolean) {
    const { client, judge } = this;
    const operation = judge.began(client, this.queue, { wait, isTry }, liveHold(outer));
    if (abortAfter === undefined) return { operation, options: { wait }, stop: () => {} };
    const controller = new AbortController();
    const abort = () => {
      operation.abortedAt = client.process.now();
      controller.abort();
    };
    const stop = abortAfter > 0 ? client.userTimer(abort, abortAfter) : () => {};
    if (abortAfter === 0) abort();
    return { operation, options: { wait, signal: controller.signal }, stop };
  }
}

/** What a call in the scope of that visit has to re-enter. */
function liveHold(visit: Visit | undefined): ObservedHold | undefined {
  if (visit === undefined || visit.lease.isHeld) return visit?.hold;
  return liveHold(visit.outer);
}
