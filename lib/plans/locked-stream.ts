import { AsyncLocalStorage } from 'node:async_hooks';
import { defer, Observable, type ObservableInput, Subject, takeUntil } from 'rxjs';
import { LockAbortedError } from '../core/index.js';

/** An async generator that runs in the async context in which it was created, regardless of the consumer. */
class ScopedGenerator implements AsyncIterableIterator<unknown, unknown> {
  readonly #inScope = AsyncLocalStorage.snapshot();
  readonly #source: AsyncGenerator<unknown, unknown>;
  /** Error that the generator itself threw. */
  #error?: { readonly error: unknown };
  /** Loss that was passed to `giveUp`. */
  #loss?: Error;
  #giveUp?: (loss: Error) => void;
  #ended?: Promise<void>;

  constructor(make: () => AsyncGenerator<unknown, unknown>) {
    this.#source = this.#inScope(make);
  }

  next(value?: unknown): Promise<IteratorResult<unknown, unknown>> {
    return this.#step(() => this.#source.next(value));
  }

  return(value?: unknown): Promise<IteratorResult<unknown, unknown>> {
    return this.#step(() => this.#source.return(value));
  }

  throw(error?: unknown): Promise<IteratorResult<unknown, unknown>> {
    return this.#step(() => this.#source.throw(error));
  }

  /** Rejects the pending request for a value and all later ones with `loss`; `end` then ends the body where it stands. */
  giveUp(loss: Error): void {
    this.#loss = loss;
    this.#giveUp?.(loss);
  }

  /** Ends the generator if it has not ended by itself; settles when it has ended, as the generator did. */
  end(): Promise<void> {
    this.#ended ??= this.#inScope(async () => {
      await this.#source.return(undefined);
      if (this.#error) throw this.#error.error;
    });
    return this.#ended;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #step(
    move: () => Promise<IteratorResult<unknown, unknown>>,
  ): Promise<IteratorResult<unknown, unknown>> {
    return new Promise((resolve, reject) => {
      if (this.#loss) return reject(this.#loss);
      this.#giveUp = reject;
      this.#inScope(move).then(resolve, (error: Error) => {
        this.#error = { error };
        reject(error);
      });
    });
  }
}

/** Runs `flow` under a lock; settles as it does. `signal` aborts the wait for the lock. */
type Around = (flow: () => Promise<unknown>, signal: AbortSignal) => Promise<unknown>;

/**
 * Subscribes to the result of `proceed` under a lock, which is held until the stream ends or is unsubscribed.
 *
 * The source runs in the scope of the lease, its teardown too. The consumer never does: values are passed on in the context of
 * the subscription, or a consumer that calls a locked method would re-enter the lock of the stream beside it.
 */
export function streamUnderLock(
  around: Around,
  proceed: () => ObservableInput<unknown>,
): Observable<unknown> {
  return new Observable((subscriber) => {
    const outside = AsyncLocalStorage.snapshot();
    const unsubscribed = new AbortController();
    subscriber.add(() => unsubscribed.abort());
    const flow = () =>
      new Promise<undefined>((resolve, reject) => {
        if (subscriber.closed) return resolve(undefined);
        const inScope = AsyncLocalStorage.snapshot();
        const left = new Subject<void>(); // known before the source runs: it may emit all it has while it is subscribed to
        subscriber.add(() => inScope(() => left.next()));
        defer(proceed)
          .pipe(takeUntil(left))
          .subscribe({
            next: (value) => outside(() => subscriber.next(value)),
            error: reject,
            complete: () => resolve(undefined),
          });
      });
    // The stream ends after the release, just as a method's promise settles after it.
    around(flow, unsubscribed.signal).then(
      (instead) => {
        if (instead !== undefined) subscriber.next(instead);
        subscriber.complete();
      },
      (error) => subscriber.error(error),
    );
  });
}

/**
 * Runs the generator of `make` under a lock, from the first `next()` until it has ended or was left with `return()` or
 * `throw()`. Leaving it before the grant ends the wait. Without a grant, the generator yields the value that `around` resolves
 * to, if any, and ends.
 */
export function generateUnderLock(around: Around, make: () => AsyncGenerator): AsyncGenerator {
  const left = new AbortController();
  const flow = underLock(around, make, left.signal);
  const leave = <T>(request: T): T => {
    left.abort();
    return request;
  };
  // `flow` itself is not returned: its queue would delay a `return()` until the lock is granted.
  const generator: AsyncGenerator = {
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
  make: () => AsyncGenerator,
  left: AbortSignal,
): AsyncGenerator {
  let end!: (outcome: Promise<void>) => void;
  const ended = new Promise<void>((resolve) => (end = resolve));
  let call!: Promise<unknown>;
  const granted = new Promise<ScopedGenerator>((resolve) => {
    call = around(async () => {
      if (left.aborted) return; // granted in the same turn in which it was left
      resolve(new ScopedGenerator(make));
      await ended;
    }, left);
  });
  const onLoss = async (loss: Error) => {
    const source = await granted;
    source.giveUp(loss);
    end(source.end());
  };
  call.catch(onLoss);

  const outcome = await Promise.race([granted, call]).catch((error: unknown) => {
    if (!(left.aborted && error instanceof LockAbortedError)) throw error;
  });
  if (!(outcome instanceof ScopedGenerator)) {
    if (outcome !== undefined) yield outcome;
    return undefined;
  }
  try {
    return yield* outcome;
  } finally {
    end(outcome.end());
    await call; // the generator ends after the release, like a stream
  }
}
