import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compiled } from './compiled.js';

/** Where `lib/loaded-copies` keeps them. */
const COPIES = Symbol.for('nestjs-interlock:copies');

let evaluations = 0;

/** Evaluates a module of the library once more, but not what it imports; the file is named without its ending. */
export async function evaluateAgain<T>(module: string): Promise<T> {
  const url = pathToFileURL(compiled(join('lib', `${module}.ts`)));
  return (await import(`${url.href}?again=${++evaluations}`)) as T;
}

/** The places of the copies of the library in this process, and their versions. */
export function loadedCopies(): Map<string, string> {
  const shared = globalThis as { [COPIES]?: Map<string, string> };
  return shared[COPIES] ?? new Map<string, string>();
}

/** Another copy of the library, as if a second version were installed, for as long as `use` runs. */
export async function withCopy<T>(
  module: string,
  use: (copy: T) => unknown,
  { without = [] as readonly string[] } = {},
): Promise<void> {
  const places = new Set(loadedCopies().keys());
  const folder = mkdtempSync(join(compiled('.'), 'copy-')); // inside, for the packages that it imports
  try {
    cpSync(compiled('lib'), join(folder, 'lib'), { recursive: true });
    for (const name of without) mkdirSync(join(folder, 'node_modules', name), { recursive: true });
    await use((await import(pathToFileURL(join(folder, 'lib', `${module}.js`)).href)) as T);
  } finally {
    rmSync(folder, { recursive: true });
    for (const place of loadedCopies().keys()) if (!places.has(place)) loadedCopies().delete(place);
  }
}
