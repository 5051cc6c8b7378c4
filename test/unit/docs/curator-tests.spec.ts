import { expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';

const ROOT = new URL('../../../', import.meta.url);
const ROW = /^\| +(?<curator>.+?) +\| +(?<ours>.+?) +\|$/gm;
const FILE = /`([\w/.-]+\.(?:spec|suite))`/g;

/** Each file that a row of the table names, with Curator's case that it has to have, if the row is about one. */
const claims = [...read('docs/curator-tests.md').matchAll(ROW)].flatMap(({ groups }) => {
  const { curator = '', ours = '' } = groups ?? {};
  const isNamed = curator.startsWith('`') && !ours.includes('under other names');
  const name = isNamed ? curator.replaceAll('`', '') : '';
  return [...ours.matchAll(FILE)].map(([, file = '']) => ({ file: pathOf(file), name }));
});

function pathOf(file: string): string {
  return file.startsWith('test/') ? `${file}.ts` : `test/contract/${file}.ts`;
}

function read(file: string): string {
  return readFileSync(new URL(file, ROOT), 'utf8');
}

it('speaks of most of the cases there are', () => {
  expect(claims.length).toBeGreaterThan(60);
});

it.each(claims)('says of $file that it has $name', ({ file, name }) => {
  expect(existsSync(new URL(file, ROOT))).toBe(true);
  if (name !== '') expect(read(file)).toContain(`Curator: ${name})`);
});
