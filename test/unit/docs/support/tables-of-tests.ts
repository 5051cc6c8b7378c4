// Writes which of our tests asks what a test of Curator or Redisson asks into the tables of those two documents:
// `npm run docs:tests`. The titles of our tests say it: "(Curator: TestSharedCount testSimple)". Without the class it is the case
// of that name in each class in which no other title names it: "(Curator: testLocker)".
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

const MARK = /\((Curator|Redisson): ([^)]+)\)/g;
const SECTION = /^## (.+)$/;
const ROW = /^\| +`(\w+)` +\| +(.+?) +\|$/;
/** The files that a row names first; what follows is written by hand and stays. */
const FILES = /^`[^`]+`(?:, `[^`]+`)*/;
/** A row that is written by hand as a whole. */
const BY_HAND = /^none: |under other names/;

/** The documents, by the project that they are about. */
export const TABLES = {
  Curator: 'docs/internals/curator-tests.md',
  Redisson: 'docs/internals/redisson-tests.md',
} as const;

type Project = keyof typeof TABLES;

/** The document of that project as the titles of today have it. */
export async function tableOfTests(project: Project): Promise<string> {
  const file = TABLES[project];
  const marks = marksOf(project);
  const isUsed = new Set<string>();
  let section = '';
  const lines = readFileSync(file, 'utf8').split('\n');
  const written = lines.map((line) => {
    section = SECTION.exec(line)?.[1] ?? section;
    const [, name, ours] = ROW.exec(line) ?? [];
    if (name === undefined || ours === undefined || BY_HAND.test(ours)) return line;
    const keys = [`${section} ${name}`, name].filter((key) => marks.has(key)).slice(0, 1);
    for (const key of keys) isUsed.add(key);
    const files = [...new Set(keys.flatMap((key) => marks.get(key)!))].sort();
    if (files.length === 0) throw new Error(`${file}: no title names ${section} ${name}`);
    return `| \`${name}\` | ${files.map((ours) => `\`${ours}\``).join(', ')}${ours.replace(FILES, '')} |`;
  });
  const unknown = [...marks.keys()].filter((key) => !isUsed.has(key));
  if (unknown.length > 0) throw new Error(`${file} has no row for ${unknown.join(', ')}`);
  const options = await resolveConfig(file);
  return format(written.join('\n'), { ...options, filepath: file });
}

/** Folders without tests; the programs of the pages come and go while this looks. */
const NO_TESTS = /^(node_modules|program-.+)$/;

/** The paths of the files in `test/` below that folder. */
function filesIn(folder: string): string[] {
  const entries = readdirSync(`test/${folder}`, { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = `${folder}${entry.name}`;
    if (!entry.isDirectory()) return [path];
    return NO_TESTS.test(entry.name) ? [] : filesIn(`${path}/`);
  });
}

/** The cases that our titles name, with the files of those tests. */
function marksOf(project: Project): ReadonlyMap<string, string[]> {
  const marks = new Map<string, string[]>();
  for (const file of filesIn('')) {
    if (!/\.(spec|suite)\.ts$/.test(file)) continue;
    const text = readFileSync(`test/${file}`, 'utf8');
    for (const [, theirs, names = ''] of text.matchAll(MARK)) {
      if (theirs !== project) continue;
      const [first = '', ...others] = names.split(', ');
      const className = first.includes(' ') ? `${first.split(' ')[0]} ` : '';
      for (const name of [first, ...others.map((other) => className + other)])
        marks.set(name, [...(marks.get(name) ?? []), file.replace(/\.ts$/, '')]);
    }
  }
  return marks;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const project of Object.keys(TABLES) as Project[])
    writeFileSync(TABLES[project], await tableOfTests(project));
