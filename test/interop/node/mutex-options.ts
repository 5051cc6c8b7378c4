import type { MutexOptions } from '../../../lib/core/lock.js';

/** The specification of a mutex that Node makes with these options: `mutex#…:/a`, `lock#…:a`. */
export function withOptions(specification: string, options: MutexOptions): string {
  const word = encodeURIComponent(JSON.stringify(options));
  return specification.replace(':', `#${word}:`);
}

/** The options in a specification, from what is between `#` and `:` there. */
export function optionsIn(word: string | undefined): MutexOptions {
  return word === undefined ? {} : (JSON.parse(decodeURIComponent(word)) as MutexOptions);
}
