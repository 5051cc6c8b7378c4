import { AsyncLocalStorage } from 'node:async_hooks';
import { types } from 'node:util';
import { defer, Observable, type ObservableInput, Subject, takeUntil } from 'rxjs';
import { LockAbortedError } from '../core/index.js';
import { onAbort } from '../core/internal/timers.js';

/** Runs `flow` under a lock; settles as it does. `signal` aborts the wait for the lock. */
export type Around = (flow: () => unknown, signal: AbortSignal) => Promise<unknown>;

/** Runs a function in an async context: all of a stream runs in that of its lease, and nothing of its consumer does. */
type Scope = <T>(fn: () => T) => T;

/** What a stay ends with, instead of a value. Not a rejected promise: to make one may exceed the call stack. */
interface Failure {
  readonly error: unknown;
}

/** A stay under a lock, from the grant until `leave`. */
interface Session {
  /** The scope of the lease; `undefined` if there was no grant. Rejects as `over`, if that does before the grant. */
  readonly entered: Promise<Scope | undefined>;
  /** Settles after the release: with what takes the place of the stream, if there was no grant, or as the outcome given to `leave`. */
  readonly over: Promise<unknown>;
  /** The first call counts. */
  readonly leave: (outcome?: Promise<void> | Failure) => void;
}

/** @param left aborts the wait for the lock */
function enter(around: Around, left: AbortSignal): Session {
  let leave!: Session['leave'];
  const stay = new Promise<Failure | void>((resolve) => (leave = resolve));
  let over!: Promise<unknown>;
  const granted = new Promise<Scope>((resolve) => {
    over = around(() => {
      if (left.aborted) return undefined; // granted in the same turn in which it was left
      resolve(AsyncLocalStorage.snapshot());
      return stay.then((failure) => {
        if (failure) throw failure.error;
      });
    }, left);
  });
  return { entered: Promise.race([granted, over.then(() => undefined)]), over, leave };
}

/** Where the call stack is exceeded, RxJS closes a source, and may have no room left to call an observer. */
class ClosedSilently implements Failure {
  get error() {
    return new Error(
      'The source of a locked Observable was closed without its end or an error: it has unsubscribed itself, or exceeded the call stack.',
    );
  }
}

/**
 * Subscribes to the result of `proceed` under a lock, which is held until the stream ends or is unsubscribed. The teardown of
 * the source runs in the scope of the lease too. Values are passed on in the context of the subscription: a consumer that calls
 * a locked method would otherwise re-enter the lock of the stream beside it.
 */
export function lockedObservable(
  around: Around,
  proceed: () => ObservableInput<unknown>,
): Observable<unknown> {
  return new Observable((subscriber) => {
    const outside: Scope = AsyncLocalStorage.snapshot();
    const unsubscribed = new AbortController();
    subscriber.add(() => unsubscribed.abort());
    const { entered, over, leave } = enter(around, unsubscribed.signal);
    const run = (inScope: Scope) => {
      if (subscriber.closed) return leave();
      const left = new Subject<void>(); // known before the source runs: it may emit all it has while it is subscribed to
      subscriber.add(() => inScope(() => left.next()));
      const source = defer(proceed)
        .pipe(takeUntil(left))
        .subscribe({
          next: (value) => outside(() => subscriber.next(value)),
          error: (error: unknown) => leave({ error }),
          complete: () => leave(),
        });
      source.add(() => leave(new ClosedSilently()));
    };
    entered.then((inScope) => inScope?.(() => run(inScope))).catch(() => {}); // `over` rejects too
    // The stream ends after the release, just as a method's promise settles after it.
    over.then(
      (instead) => {
        if (instead !== undefined) subscriber.next(instead);
        subscriber.complete();
      },
      (error) => subscriber.error(error),
    );
  });
}

type Step = Promise<IteratorResult<unknown, unknown>>;

/** The iterator of what `make` returns, which runs in that scope, regardless of the consumer. */
class ScopedGenerator implements AsyncIterableIterator<unknown, unknown> {
  readonly #source: AsyncIterator<unknown, unknown>;
  /** Error that the generator itself threw. */
  #error?: { readonly error: unknown };
  /** Loss that was passed to `giveUp`. */
  #loss?: Error;
  #giveUp?: (loss: Error) => void;
  #ended?: Promise<void>;
  #isAwaited = false;

  constructor(
    private readonly inScope: Scope,
    make: () => AsyncIterable<unknown>,
    left: AbortSignal,
  ) {
    this.#source = inScope(() => make()[Symbol.asyncIterator]() as AsyncIterator<unknown, unknown>);
    onAbort(left, () => this.#endWait());
  }

  next(value?: unknown): Step {
    this.#isAwaited = true;
    return this.#step(() => this.#source.next(value)).finally(() => (this.#isAwaited = false));
  }

  return(value?: unknown): Step {
    return this.#step(() => this.#source.return?.(value) ?? { done: true, value });
  }

  throw(error?: unknown): Step {
    return this.#step(async () => {
      if (this.#source.throw) return await this.#source.throw(error);
      await this.#source.return?.();
      throw error;
    });
  }

  /** Rejects the pending request for a value and all later ones with `loss`; `end` then ends the body where it stands. */
  giveUp(loss: Error): void {
    this.#loss = loss;
    this.#giveUp?.(loss);
  }

  /** Ends the generator if it has not ended by itself; settles when it has ended, as the generator did. */
  end(): Promise<void> {
    this.#ended ??= this.inScope(async () => {
      await this.#source.return?.(undefined);
      if (this.#error) throw this.#error.error;
    });
    return this.#ended;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /**
   * The consumer leaves while it waits for a value. A generator would queue the request; another iterator, such as one of events,
   * can end that wait, which may otherwise last for ever.
   */
  #endWait(): void {
    if (!this.#isAwaited || types.isGeneratorObject(this.#source)) return;
    this.inScope(async () => await this.#source.return?.()).catch(() => {}); // `end` calls it too, and is heard
  }

  #step(move: () => Step | IteratorResult<unknown, unknown>): Step {
    return new Promise((resolve, reject) => {
      if (this.#loss) return reject(this.#loss);
      this.#giveUp = reject;
      this.inScope(async () => await move()).then(resolve, (error: Error) => {
        this.#error = { error };
        reject(error);
      });
    });
  }
}

/**
 * Iterates the result of `make` under a lock, from the first `next()` until it has ended or was left with `return()` or
 * `throw()`. Leaving it before the grant ends the wait. Without a grant, the generator yields the value that `around` resolves
 * to, if any, and ends.
 */
export function lockedGenerator(
  around: Around,
  make: () => AsyncIterable<unknown>,
): AsyncGenerator<unknown, unknown> {
  const left = new AbortController();
  const flow = underLock(around, make, left.signal);
  const leave = <T>(request: T): T => {
    left.abort();
    return request;
  };
  // `flow` itself is not returned: its queue would delay a `return()` until the lock is granted.
  const generator: AsyncGenerator<unknown, unknown> = {
    next: (...value) => flow.next(...value),
    return: (value) => leave(flow.return(value)),
    throw: (error) => leave(flow.throw(error)),
    [Symbol.asyncIterator]: () => generator,
    [Symbol.asyncDispose]: async () => void (await generator.return(undefined)),
  };
  return generator;
}

async function* underLock(
  around: Around,
  make: () => AsyncIterable<unknown>,
  left: AbortSignal,
): AsyncGenerator<unknown, unknown> {
  const { entered, over, leave } = enter(around, left);
  const inScope = await entered.catch((error: unknown) => {
    if (!(left.aborted && error instanceof LockAbortedError)) throw error;
  });
  if (inScope === undefined) {
    const instead = await over.catch(() => undefined);
    if (instead !== undefined) yield instead;
    return undefined;
  }
  let source: ScopedGenerator | undefined;
  over.catch((loss: Error) => {
    source?.giveUp(loss);
    leave(source?.end());
  });
  try {
    if (left.aborted) return undefined; // in the turn of the grant
    source = new ScopedGenerator(inScope, make, left);
    return yield* source;
  } finally {
    leave(source?.end());
    await over; // the generator ends after the release, like a stream
  }
}
