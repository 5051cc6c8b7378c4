import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const pagesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join(folder, path));

const samples = readdirSync('sample')
  .map((name) => join('sample', name, 'README.md'))
  .filter((path) => existsSync(path));

/** All pages for readers, as paths from the root of the repository. */
export const documents: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...pagesIn('docs'),
  ...samples,
].toSorted();
