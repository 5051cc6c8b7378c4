import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
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
