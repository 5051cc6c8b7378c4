import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { documents } from './support/documents.js';

const recipes = documents.filter((document) => document.startsWith('docs/recipes/'));

/** What links of other documents can name: headings as they stand in an address. */
function headingsOf(document: string): string[] {
  const headings = readFileSync(document, 'utf8').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^a-z0-9 _-]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** Links within the repository. */
function linksOf(document: string): string[] {
  const links = readFileSync(document, 'utf8').matchAll(/\]\(([^)\s]+)\)/g);
  return [...links].map(([, link = '']) => link).filter((link) => !/^[a-z]+:/.test(link));
}

describe('A link', () => {
  it.each(documents)('of %s leads somewhere', (document) => {
    const broken = linksOf(document).filter((link) => {
      const [path = '', heading] = link.split('#');
      const target = path === '' ? document : join(dirname(document), path);
      if (!existsSync(target)) return true;
      return heading !== undefined && !headingsOf(target).includes(heading);
    });
    expect(broken).toEqual([]);
  });

  it.each(recipes)('leads from the overview to %s', (recipe) => {
    expect(linksOf('docs/README.md')).toContain(recipe.replace('docs/', ''));
    expect(linksOf('docs/which-lock.md')).toContain(recipe.replace('docs/', ''));
  });
});

const comparison = readFileSync('docs/internals/comparison.md', 'utf8');

/** What is claimed of this library, with how to check it: the first and the last cell of a row. */
const claims = [
  ...comparison.matchAll(/^\| (?<what>.+?) +\| yes +\|.*\| (?<check>.*?) *\|$/gm),
].map(({ groups }) => ({ what: groups?.what ?? '', check: groups?.check ?? '' }));

describe('The comparison', () => {
  it('claims many things', () => {
    expect(claims.length).toBeGreaterThan(40);
  });

  it.each(claims)('names a test that there is: $what', ({ check }) => {
    const files = [...check.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file);
    expect(files).not.toEqual([]);
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
  });

  it('repeats the figures of the benchmarks', () => {
    const measured = readFileSync('docs/internals/benchmarks.md', 'utf8');
    const [, section = ''] = comparison.split('\n## Speed\n');
    const [, , ...rows] = section.matchAll(/^\| (?<what>.+?) +\| (?<here>.+?) +\|/gm);
    expect(rows.length).toBeGreaterThan(2);
    for (const { groups } of rows) expect(measured).toContain(`| ${groups?.here}`);
  });
});

const MODULE_OPTIONS = 'lib/interfaces/lock-module-options.interface.ts';

/** The tables of the page, with the types that have the options they list. */
const TABLES = [
  {
    heading: 'Of every client',
    options: [
      ...optionsOf(MODULE_OPTIONS, 'LockModuleOptions'),
      ...optionsOf(MODULE_OPTIONS, 'AppOptions'),
      ...optionsOf('lib/interfaces/lock-client-options.interface.ts', 'NamespaceOption'),
      ...optionsOf('lib/core/internal/waiter-limits.ts', 'WaiterLimits'),
    ],
  },
  {
    heading: 'Embedded',
    options: [...optionsOf('lib/embedded/create-embedded-lock-client.ts', 'EmbeddedLockOptions')],
  },
  {
    heading: 'ZooKeeper',
    options: [...optionsOf('lib/zookeeper/zookeeper-options.ts', 'ZooKeeperLockOptions')],
  },
  {
    heading: 'Redis',
    options: [...optionsOf('lib/redis/redis-options.ts', 'RedisLockOptions')],
  },
];

const page = readFileSync('docs/configuration.md', 'utf8');

/** Each option that a table names, with its default, as the comments in the code write it. */
function tableUnder(heading: string): [string, string][] {
  const [, section = ''] = page.split(`\n### ${heading}\n`);
  const rows = section.split('\n#')[0]!.matchAll(/^\| `(\w+)` +\| (.*?) +\|/gm);
  return [...rows].map(([, option = '', given = '']) => [option, plain(given)]);
}

const plain = (text: string) =>
  text
    .replaceAll('`', '')
    .replaceAll(/(?<=\d),(?=\d{3})/g, '')
    .trim();

describe('The page on configuration', () => {
  it.each(TABLES)('lists the options with their defaults: $heading', ({ heading, options }) => {
    expect(options.length).toBeGreaterThan(1);
    const inCode = options.map(([option, given]) => [option, plain(given)]);
    expect(new Map(tableUnder(heading))).toEqual(new Map(inCode as [string, string][]));
  });
});

/** The options that an interface or a type of a file names itself, each with its `@default`, or an empty text. */
function optionsOf(path: string, type: string): Map<string, string> {
  const source = ts.createSourceFile(
    path,
    readFileSync(path, 'utf8'),
    ts.ScriptTarget.ES2023,
    true,
  );
  const found = new Map<string, string>();
  for (const statement of source.statements) {
    const isThere = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
    if (isThere && statement.name.text === type) visit(statement);
  }
  return found;

  function visit(node: ts.Node): void {
    if (ts.isPropertySignature(node)) found.set(node.name.getText(), defaultOf(node));
    else ts.forEachChild(node, visit); // not into the type of an option
  }
}

function defaultOf(property: ts.PropertySignature): string {
  const tag = ts.getJSDocTags(property).find(({ tagName }) => tagName.text === 'default');
  return (ts.getTextOfJSDocComment(tag?.comment) ?? '').trim();
}
