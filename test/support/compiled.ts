import { join, relative } from 'node:path';

const FOLDER = process.env.COMPILED ?? '.compiled';

/** The JavaScript of a TypeScript file of the project; `compile.mjs` makes it before the tests run. */
export function compiled(file: string): string {
  const path = relative('.', file).replace(/\.ts$/, '.js');
  return path.startsWith(FOLDER) ? join(process.cwd(), path) : join(process.cwd(), FOLDER, path);
}
