import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { TABLES, tableOfTests } from './support/tables-of-tests.js';

const FILE = /`([\w/.-]+\.(?:spec|suite))`/g;

describe.each(['Curator', 'Redisson'] as const)('The table of the tests of %s', (project) => {
  const text = readFileSync(TABLES[project], 'utf8');

  it('is what the titles of our tests say: `npm run docs:tests`', async () => {
    expect(await tableOfTests(project)).toBe(text);
  });

  it('names only files that there are, where it is written by hand, too', () => {
    const files = [...text.matchAll(FILE)].map(([, file]) => `test/${file}.ts`);
    expect(files.length).toBeGreaterThan(80);
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
  });
});
