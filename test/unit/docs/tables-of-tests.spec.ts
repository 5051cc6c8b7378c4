import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';

const ROOT = new URL('../../../', import.meta.url);
const SECTION = /^## (?<heading>.+)\n(?<body>(?:(?!## ).*\n)*)/gm;
const ROW = /^\| +(?<theirs>.+?) +\| +(?<ours>.+?) +\|$/gm;
const FILE = /`([\w/.-]+\.(?:spec|suite))`/g;

/** The tables, with where their files are, and how the title of a test names a case of that class. */
const TABLES = [
  {
    table: 'docs/curator-tests.md',
    folder: 'test/contract',
    least: 60,
    mark: (_class: string, name: string) => `Curator: ${name})`,
  },
  {
    table: 'docs/redisson-tests.md',
    folder: 'test/redis',
    least: 100,
    mark: (className: string, name: string) => `Redisson: ${className} ${name})`,
  },
];

describe.each(TABLES)('$table', ({ table, folder, least, mark }) => {
  /** Each file that a row names, with what has to stand in it, if the row is about a case of theirs. */
  const claims = sections(read(table)).flatMap(({ heading, theirs, ours }) => {
    const isNamed = theirs.startsWith('`') && !ours.includes('under other names');
    const title = isNamed ? mark(heading, theirs.replaceAll('`', '')) : '';
    return [...ours.matchAll(FILE)].map(([, file = '']) => ({
      file: file.startsWith('test/') ? `${file}.ts` : `${folder}/${file}.ts`,
      title,
    }));
  });

  it('speaks of most of the cases there are', () => {
    expect(claims.length).toBeGreaterThanOrEqual(least);
  });

  it.each(claims)('says of $file that it has $title', ({ file, title }) => {
    expect(existsSync(new URL(file, ROOT))).toBe(true);
    expect(read(file)).toContain(title);
  });
});

/** The rows of all tables of a document, with the heading that each stands under. */
function sections(text: string) {
  return [...text.matchAll(SECTION)].flatMap(({ groups }) => {
    const { heading = '', body = '' } = groups ?? {};
    return [...body.matchAll(ROW)].map(({ groups: row }) => {
      const { theirs = '', ours = '' } = row ?? {};
      return { heading, theirs, ours };
    });
  });
}

function read(file: string): string {
  return readFileSync(new URL(file, ROOT), 'utf8');
}
