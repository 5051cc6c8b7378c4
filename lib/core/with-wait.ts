import type { AcquireOptions, Wait } from './acquire-options.js';

/** The options with another `wait`. Assigned: a spread with more behind it takes half a microsecond, at every acquire. */
export function withWait<O extends AcquireOptions>(options: O, wait: Wait | undefined): O {
  return Object.assign({}, options, { wait });
}
