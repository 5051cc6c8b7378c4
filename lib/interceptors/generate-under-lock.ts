import { LockAbortedError } from '../core/index.js';
import type { Around } from './around.js';
import { ScopedGenerator } from './scoped-generator.js';

/**
 * What `make` gives, under a lock: from the first `next()` until the generator has ended, or was left with `return()` or
 * `throw()`. Before the grant, leaving it ends the wait. A call without a grant is over with the value that `around` gives
 * instead, if any.
 */
export function generateUnderLock(around: Around, make: () => AsyncGenerator): AsyncGenerator {
  const left = new AbortController();
  const flow = underLock(around, make, left.signal);
  const leave = <T>(request: T): T => {
    left.abort();
    return request;
  };
  // Not `flow` itself: its queue would keep a `return()` until there is a lock.
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
      if (left.aborted) return; // granted in the turn in which it was left
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
    await call; // the end is told after the release, as that of a stream
  }
}
