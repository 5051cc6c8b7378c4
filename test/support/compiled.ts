import { join, relative } from 'node:path';

/** The JavaScript of a TypeScript file of the project; `compile.mjs` makes it before the tests run. */
export function compiled(file: string): string {
  const path = relative('.', file).replace(/\.ts$/, '.js');
  return path.startsWith('.compiled')
    ? join(process.cwd(), path)
    : join(process.cwd(), '.compiled', path);
}
