import { AsyncLocalStorage } from 'node:async_hooks';

/** An async generator that runs in the async context in which this was made, whoever asks for its values. */
export class ScopedGenerator implements AsyncIterableIterator<unknown, unknown> {
  readonly #inScope = AsyncLocalStorage.snapshot();
  readonly #source: AsyncGenerator<unknown, unknown>;
  /** What it threw itself. */
  #error?: { readonly error: unknown };
  /** What it was given up for. */
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

  /** Whoever waits for a value, or asks for one from now on, gets `loss`; the body is ended where it stands. */
  giveUp(loss: Error): void {
    this.#loss = loss;
    this.#giveUp?.(loss);
  }

  /** Ends it, if it has not ended by itself; settles when it has, as it did. */
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
