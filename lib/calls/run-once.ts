import {
  type Clock,
  type Lease,
  type LockClient,
  type LockLostError,
  LockOptionsError,
  LockTimeoutError,
} from '../core/index.js';
import { systemClock } from '../core/clock.js';
import { LeaseHandle } from '../core/internal/lease-handle.js';
import { onAbort } from '../core/internal/timers.js';
import type { LockPlan } from '../interfaces/lock-plan.interface.js';
import { naming, withMethodInErrors } from '../plans/define-plan.js';
import { compileOccurrence, type OccurrenceOf } from '../plans/occurrence.js';
import type { CallContext } from './call-context.js';

/** Minimum bound on the wait of a `@RunOnce` call for the server, in ms. */
const SERVER_PATIENCE = 5_000;
/** Minimum bound on the last request of a call: if its answer is missed, the occurrence is over, and no replica has run it. */
const LAST_PATIENCE = 1_000;

/** A plan of `@RunOnce`. */
type OncePlan = LockPlan & { readonly once: NonNullable<LockPlan['once']> };

/** What one method has in common for all of its calls. */
interface Context {
  readonly plan: OncePlan;
  readonly client: LockClient;
  readonly clock: Clock;
  readonly logger: CallContext['logger'];
  /** Undefined without the option `occurrence`. */
  readonly occurrenceOf?: Promise<OccurrenceOf>;
}

/** What `@RunOnce` asks of one method: which of its calls run, and for how long a run excludes the others. */
export class RunOnceRules {
  readonly #context: Context;

  /** @throws LockOptionsError naming the method, when the client cannot remember occurrences */
  constructor(plan: OncePlan, client: LockClient, logger: CallContext['logger']) {
    const { occurrence } = plan.once;
    const clock = client.clock ?? systemClock;
    this.#context = { plan, client, clock, logger };
    if (occurrence === undefined) return;
    if (client.occurrenceMark === undefined) {
      const expected = 'none with this lock client, which has no `occurrenceMark`';
      const about = { client: client.name };
      withMethodInErrors(plan, () => {
        throw new LockOptionsError('occurrence', occurrence, expected, about);
      });
    }
    const occurrenceOf = compileOccurrence(occurrence).catch((error: unknown) => {
      throw naming(plan, error);
    });
    occurrenceOf.catch(() => {}); // callers of the method get it, and the boot
    this.#context = { plan, client, clock, logger, occurrenceOf };
  }

  /** Resolves when calls can be made; rejects with `LockOptionsError` naming the method. */
  async ready(): Promise<void> {
    await this.#context.occurrenceOf;
  }

  /** Begins a call, at the tick: what counts is the time since then. */
  begin(): RunOnceCall {
    return new RunOnceCall(this.#context);
  }
}

/** One call of a `@RunOnce` method. */
export class RunOnceCall {
  readonly #calledAt: number;
  readonly #calledOn = Date.now();

  constructor(private readonly context: Context) {
    this.#calledAt = context.clock.now();
  }

  /** Whether it belongs to an occurrence; only then are `isOver` and `claim` called. */
  get hasOccurrence(): boolean {
    return this.context.occurrenceOf !== undefined;
  }

  /** What is left of its patience with the server, in ms. */
  get wait(): number {
    const patience = Math.max(this.context.plan.once.atLeast, SERVER_PATIENCE);
    return this.hasOccurrence ? Math.max(1, Math.ceil(patience - this.#elapsed)) : patience;
  }

  /** Resolves to whether its occurrence was begun. Most calls end here, and are not in the way of one that runs. */
  async isOver(key: string): Promise<boolean> {
    return await this.#mark(key).isReached(await this.#occurrence(), { wait: this.wait });
  }

  /** Begins the occurrence, inside of the lock; resolves to false, and releases the lock, if it was begun before. */
  async claim(lease: Lease): Promise<boolean> {
    const { signal, key } = lease;
    try {
      const options = { wait: Math.max(this.wait, LAST_PATIENCE), signal };
      const occurrence = await this.#occurrence();
      const isMine = await lease.run(() => this.#mark(key).raise(occurrence, options));
      if (!isMine) await lease.release();
      return isMine;
    } catch (error) {
      void lease.release();
      throw signal.aborted ? (signal.reason as LockLostError) : error;
    }
  }

  /**
   * Lets the method begin, now, and bounds for how long it excludes the others; otherwise the lock is released at once.
   *
   * @throws LockTimeoutError when the grant comes too late
   * @throws LockOptionsError when the lease is not of a client of this library: only those support the bounds
   */
  admit(lease: Lease): void {
    try {
      if (!(lease instanceof LeaseHandle)) throw this.#foreignClient();
      this.#refuseIfLate(lease);
      this.#limitRunTime(lease as LeaseHandle);
    } catch (error) {
      void lease.release();
      throw error;
    }
  }

  get #elapsed(): number {
    return this.context.clock.now() - this.#calledAt;
  }

  #mark(key: string) {
    return this.context.client.occurrenceMark!(key);
  }

  /** The clock was read when the call was made. */
  async #occurrence(): Promise<number> {
    const occurrenceOf = await this.context.occurrenceOf!;
    return withMethodInErrors(this.context.plan, () => occurrenceOf(this.#calledOn));
  }

  /**
   * After `atLeast`, a replica that was called at the same tick may have run the method and released the lock. A call with an
   * occurrence knows whether one has.
   */
  #refuseIfLate({ key }: Lease): void {
    const { plan, client } = this.context;
    const { atLeast } = plan.once;
    const late = this.#elapsed;
    if (this.hasOccurrence || atLeast === 0 || late <= atLeast) return;
    const cause = new Error(
      `the grant came ${Math.ceil(late)} ms after the call, when another replica may have run ${plan.method}`,
    );
    const { method } = plan;
    throw new LockTimeoutError(atLeast, { key, client: client.name, method, cause });
  }

  #limitRunTime({ hold, signal }: LeaseHandle): void {
    const { plan, logger } = this.context;
    const { once, method } = plan;
    const { atMost, atLeast } = once;
    hold.atLeast = atLeast;
    hold.revokeAfter(atMost, `it was held for its \`atMost\` of ${atMost} ms`);
    onAbort(signal, () => {
      const { message } = signal.reason as LockLostError;
      const others = hold.isInUse ? 'keeps others out until it ends' : 'others may run it now';
      logger.warn(`${method} is still running, and ${others}: ${message}`);
    });
  }

  #foreignClient(): LockOptionsError {
    const expected = `a client of this library, to ${this.context.plan.method}`;
    return new LockOptionsError('client', undefined, expected);
  }
}

/** Whether it is a plan of `@RunOnce`. */
export const isOnce = (plan: LockPlan): plan is OncePlan => plan.once !== undefined;
