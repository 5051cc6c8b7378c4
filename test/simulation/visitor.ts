import { LockLostError, LockNotHeldError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { currentOperation } from './current-operation.js';
import type { Judge } from './judge.js';
import type { SimulatedClient } from './simulated-client.js';
import type { SimulatedLock } from './simulated-lock.js';
import type { Visit } from './visit.js';

/** What a visitor asks for, and how long it waits. */
export interface Wish {
  /** Milliseconds. Default: forever. */
  readonly wait?: number;
  /** Number of milliseconds after which its signal aborts; 0: before the call. */
  readonly abortAfter?: number;
  /** Permits of a semaphore. Default: one. */
  readonly permits?: number;
}

/** A user of one lock of one client, which reports to the judge all that it sees. */
export class Visitor {
  constructor(
    private readonly judge: Judge,
    readonly client: SimulatedClient,
    readonly lock: SimulatedLock,
  ) {}

  /**
   * Does not reject; `undefined`: not granted.
   *
   * @param outer the visit in the scope of which this is called
   */
  acquire(wish: Wish = {}, outer?: Visit): Promise<Visit | undefined> {
    return this.#ask('acquire', wish, outer);
  }

  /** Like {@link acquire}, without waiting for others. */
  tryAcquire(wish: Wish = {}, outer?: Visit): Promise<Visit | undefined> {
    return this.#ask('tryAcquire', wish, outer);
  }

  /** Like `Lock.using`, with a function that does not reject. Does not reject itself; false: not granted. */
  async using(
    stay: (visit: Visit) => Promise<void>,
    wish: Wish = {},
    outer?: Visit,
  ): Promise<boolean> {
    const { operation, options, stop } = this.#begin(wish, outer, false);
    let isInside = false;
    const visit = async (lease: Lease) => {
      isInside = true;
      const hold = this.judge.granted(operation, lease);
      await stay({ lease, hold, outer });
      this.judge.releasing(hold, lease);
    };
    try {
      await currentOperation.run(operation, () => this.#real.using(visit, options));
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

  get #real() {
    return this.lock.of(this.client);
  }

  async #ask(
    method: 'acquire' | 'tryAcquire',
    wish: Wish,
    outer: Visit | undefined,
  ): Promise<Visit | undefined> {
    const { operation, options, stop } = this.#begin(wish, outer, method === 'tryAcquire');
    try {
      const lease = await currentOperation.run(operation, () => this.#real[method](options));
      if (lease) return { lease, hold: this.judge.granted(operation, lease), outer };
      this.judge.refused(operation);
    } catch (error) {
      this.judge.failed(operation, error);
    } finally {
      stop();
    }
    return undefined;
  }

  #begin({ wait, abortAfter, permits = 1 }: Wish, outer: Visit | undefined, isTry: boolean) {
    const { client, judge } = this;
    const operation = judge.began(client, this.lock, { wait, isTry, permits, outer });
    const asked = permits > 1 ? { wait, permits } : { wait };
    if (abortAfter === undefined) return { operation, options: asked, stop: () => {} };
    const controller = new AbortController();
    const abort = () => {
      operation.abortedAt = client.process.now();
      controller.abort();
    };
    const stop = abortAfter > 0 ? client.userTimer(abort, abortAfter) : () => {};
    if (abortAfter === 0) abort();
    return { operation, options: { ...asked, signal: controller.signal }, stop };
  }
}
