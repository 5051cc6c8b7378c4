import { Logger } from '@nestjs/common';

/** The `version` of package.json, which a bundle does not carry along. */
const VERSION = '0.1.0';

/** The copies that this process has evaluated: where (file, line and column), and their versions. */
interface LoadedCopies extends Map<string, string> {
  /** How many there were at the last warning. */
  reported?: number;
}

/** Shared by every copy of this package in the process, of whatever version. */
const KEY = Symbol.for('nestjs-interlock:copies');

const shared = globalThis as { [KEY]?: LoadedCopies };
const copies: LoadedCopies = (shared[KEY] ??= new Map());

// A module evaluated again (Jest resets its registry, Vite adds a query) stands at the same place; a second copy does not, not
// even within one bundle.
copies.set(placeOf(new Error().stack), VERSION);

/** The topmost place in `stack`. Neither `import.meta` nor `__filename` is there in both formats. */
function placeOf(stack: unknown): string {
  const [, file, position] =
    /(?:\(|at )((?:file:\/\/)?[^()\n]*?)(?:\?[^:()\n]*)?(:\d+:\d+)\)?$/m.exec(String(stack)) ?? [];
  return file === undefined ? 'an unknown place' : `${file.replace(/^file:\/\//, '')}${position}`;
}

/** Logs a warning, once for the process, if several copies of this package are loaded. */
export function warnOfCopies(): void {
  if (copies.size < 2 || copies.reported === copies.size) return;
  copies.reported = copies.size;
  const list = [...copies].map(([place, version]) => `${version} at ${place}`).join(', ');
  Logger.warn(
    `${copies.size} copies of nestjs-interlock are loaded: ${list}. A client may be registered in each of them, and then they do not know each other's locks. Keep one: see \`npm ls nestjs-interlock\`, run \`npm dedupe\`, and either bundle the package or leave it external.`,
    'LockModule',
  );
}
