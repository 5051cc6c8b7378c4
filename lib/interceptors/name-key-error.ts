import { LockKeyError } from '../core/index.js';

/** The error to throw for `error`: a {@link LockKeyError} is told of the method whose key it was. */
export function nameKeyError(error: unknown, key: unknown, method: string): unknown {
  if (!(error instanceof LockKeyError)) return error;
  return new LockKeyError(key, `${error.why} (it is the key of ${method})`, {
    client: error.client,
    cause: error.cause,
  });
}
