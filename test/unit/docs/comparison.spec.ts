import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const page = readFileSync('docs/comparison.md', 'utf8');

/** What is claimed of this library, with how to check it: the first and the last cell of a row. */
const claims = [...page.matchAll(/^\| (?<what>.+?) +\| yes +\|.*\| (?<check>.*?) *\|$/gm)].map(
  ({ groups }) => ({ what: groups?.what ?? '', check: groups?.check ?? '' }),
);

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
    const measured = readFileSync('docs/benchmarks.md', 'utf8');
    const [, section = ''] = page.split('\n## Speed\n');
    const [, , ...rows] = section.matchAll(/^\| (?<what>.+?) +\| (?<here>.+?) +\|/gm);
    expect(rows.length).toBeGreaterThan(2);
    for (const { groups } of rows) expect(measured).toContain(`| ${groups?.here}`);
  });
});
