import type { Clock, Timer } from '../clock.js';
import {
  LockAbortedError,
  LockClientClosedError,
  type LockError,
  type LockErrorContext,
  LockTimeoutError,
} from '../errors/index.js';
import { type LockSubject, lockSubject } from '../lock-events.js';
import type { AcquireOptions, LockRecipe, Wait } from '../lock.js';
import type { LockHolder } from '../lock-holder.js';
import type { OrderedSet } from '../collections/ordered-set.js';

/** What a {@link WaitScope} depends on. */
export interface WaitScopeContext extends LockErrorContext {
  readonly clock: Clock;
  /** Open waits of the client, which end when it closes. */
  readonly open: OrderedSet<WaitScope>;
  /** Recipe of the awaited lock, if it is a lock. */
  readonly recipe?: LockRecipe | undefined;
  /**
   * Whether it continues work that may finish while the client shuts down.
   *
   * @default false
   */
  readonly isInside?: boolean | undefined;
  /** The client: when it accepts nothing any more, the wait is over, although it may be closed some turns later. */
  readonly owner?:
    | {
        readonly accepts: 'all' | 'nested' | 'none';
        /** Why the servers cannot be asked now, if so: then it is the cause of a time-out. */
        readonly trouble?: () => Error | undefined;
      }
    | undefined;
}

const nothing = () => {};

/**
 * Everything that may end one acquire before its grant: the deadline, the caller's signal, the closing of the client.
 *
 * The first of them wins and is final; from then on every `until` rejects with it. `end()` must be called, so that no timer
 * or listener outlives the acquire.
 */
export class WaitScope {
  readonly startedAt: number;
  /** Returns the server-side id of this waiter, once queued. */
  waiterId?: () => string | undefined;
  /** Returns the holder that was last seen, without a request; called when the time is over. */
  holder?: () => LockHolder | undefined;
  /** Set if another caller has handed the lock on to this one: how often that happened since the servers granted it. */
  handOffs?: number;
  /** Called each time the acquire begins to wait for others. */
  contended: () => void = nothing;
  #error?: LockError;
  /** Ends what waits, almost always one `until`. The others are in a `Set`, which costs as much as the rest of this object. */
  #end?: ((error: LockError) => void) | undefined;
  #others?: Set<(error: LockError) => void>;
  readonly #leave: () => void;
  #timer?: Timer;
  #onAbort?: () => void;
  #tellEnded?: () => void;

  constructor(
    private readonly context: WaitScopeContext,
    private readonly options: AcquireOptions,
    defaultWait: Wait = 'forever',
  ) {
    const { wait = defaultWait, signal } = options;
    this.startedAt = context.clock.now();
    if (signal !== undefined) this.#abortWith(signal);
    if (wait !== 'forever') this.#timeOutAfter(wait);
    this.#leave = context.open.add(this);
  }

  /** The awaited lock, if it is a lock. */
  get subject(): LockSubject | undefined {
    const { key, recipe } = this.context;
    if (key === undefined || recipe === undefined) return undefined;
    return lockSubject(key, recipe, this.options.method);
  }

  /** Whether it may go on while the client shuts down. */
  get isInside(): boolean {
    return this.context.isInside === true;
  }

  /** Whether it has ended without a grant. */
  get isOver(): boolean {
    this.#checkClient();
    return this.#error !== undefined;
  }

  /** Milliseconds since the acquire began. */
  get elapsed(): number {
    return this.context.clock.now() - this.startedAt;
  }

  /** Resolves when the acquire is over and its removals, if any, are under way. Call it once, before that. */
  ended(): Promise<void> {
    return new Promise((resolve) => (this.#tellEnded = resolve));
  }

  /** Ends the wait with `error`, unless it has ended already. */
  cancel(error: LockError): void {
    if (this.#error !== undefined) return;
    this.#error = error;
    this.#end?.(error);
    for (const end of this.#others ?? []) end(error);
  }

  #timeOutAfter(ms: number): void {
    const { context } = this;
    const timeOut = () => {
      const { method } = this.options;
      const about = {
        ...context,
        method,
        holder: this.holder?.(),
        cause: context.owner?.trouble?.(),
      };
      this.cancel(new LockTimeoutError(ms, about));
    };
    this.#timer = context.clock.setTimer(timeOut, ms);
  }

  #abortWith(signal: AbortSignal): void {
    const onAbort = () =>
      this.cancel(new LockAbortedError({ ...this.context, cause: signal.reason }));
    this.#onAbort = onAbort;
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  }

  /** Ends the wait as `close` does after `ms`, unless it has a bound already. */
  bound(ms: number): void {
    this.#timer ??= this.context.clock.setTimer(() => this.close(), ms);
  }

  /** Ends the wait because its client closes. */
  close(): void {
    this.cancel(new LockClientClosedError(this.context));
  }

  #checkClient(): void {
    if (this.#error === undefined && this.context.owner?.accepts === 'none') this.close();
  }

  /** Settles as `event` does, or rejects as soon as the wait has ended, whichever comes first. */
  until<T>(event: Promise<T>): Promise<T> {
    this.#checkClient();
    return new Promise<T>((resolve, reject) => {
      this.#endWith(reject);
      event.then(
        (value) => {
          this.#forget(reject);
          resolve(value);
        },
        (error: Error) => {
          this.#forget(reject);
          reject(error);
        },
      );
    });
  }

  /** The same for an event without a promise of its own: `begin` is called now, and what it gets, when the event occurs. */
  untilCalled<T>(begin: (resolve: (value: T) => void) => unknown): Promise<T> {
    this.#checkClient();
    return new Promise<T>((resolve, reject) => {
      this.#endWith(reject);
      begin((value) => {
        this.#forget(reject);
        resolve(value);
      });
    });
  }

  #endWith(end: (error: LockError) => void): void {
    if (this.#error !== undefined) end(this.#error);
    else if (this.#end === undefined) this.#end = end;
    else (this.#others ??= new Set()).add(end);
  }

  #forget(end: (error: LockError) => void): void {
    if (this.#end === end) this.#end = undefined;
    else this.#others?.delete(end);
  }

  /** Resolves after `ms`, or rejects as soon as the wait has ended. */
  async sleep(ms: number): Promise<void> {
    let timer: Timer | undefined;
    try {
      await this.untilCalled<void>((wake) => (timer = this.context.clock.setTimer(wake, ms)));
    } finally {
      timer?.cancel();
    }
  }

  /** Throws the error that ended the wait, if it has ended. */
  throwIfEnded(): void {
    this.#checkClient();
    if (this.#error !== undefined) throw this.#error;
  }

  /** Removes the timer and the abort listener. Idempotent. */
  end(): void {
    this.#leave();
    this.#timer?.cancel();
    if (this.#onAbort) this.options.signal?.removeEventListener('abort', this.#onAbort);
    this.#tellEnded?.();
  }
}
