import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { codeBlocksOf } from './support/code-blocks-of.js';
import { complaintsAbout } from './support/complaints-about.js';
import { documents } from './support/documents.js';
import { PRELUDE } from './support/prelude.js';

/** Blocks that are not checked: each has to say why in the text above it. */
const UNCHECKED_AT_MOST = 3;

const blocks = documents.flatMap(codeBlocksOf);
const typescript = blocks.filter(({ language, note }) => language === 'ts' && note === '');
const isWhole = ({ code }: { code: string }) => /^import /m.test(code);
const complaints = new Map([
  ...complaintsAbout(typescript.filter(isWhole)),
  ...complaintsAbout(
    typescript.filter((block) => !isWhole(block)),
    PRELUDE,
  ),
]);

describe('TypeScript in the documents', () => {
  it.each(documents.filter((page) => typescript.some(({ document }) => document === page)))(
    'compiles: %s',
    (page) => {
      const said = [...complaints].filter(([{ document }]) => document === page);
      expect(said.flatMap(([, complaint]) => complaint)).toEqual([]);
    },
  );

  it.each(documents)('is not overlooked: %s', (document) => {
    const fences = readFileSync(document, 'utf8').match(/^ *```/gm) ?? [];
    expect(fences).toHaveLength(2 * codeBlocksOf(document).length);
  });

  it('is marked in one way, and next to nothing is left unchecked', () => {
    const others = blocks.filter(({ language }) =>
      /^(typescript|tsx?|jsx?|javascript)$/.test(language),
    );
    const unchecked = others.filter((block) => !typescript.includes(block));
    expect(unchecked.filter(({ note }) => note !== 'no-check')).toEqual([]);
    expect(unchecked.length).toBeLessThanOrEqual(UNCHECKED_AT_MOST);
  });
});

describe('Commands in the documents', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: object };

  it.each(documents)('are scripts that there are: %s', (document) => {
    const named = readFileSync(document, 'utf8').matchAll(
      /\bnpm (?:(?:run|run-script) (?:-+\w+ )*([\w:-]+)|(test|start))\b/g,
    );
    const missing = [...named]
      .map(([, script, short]) => script ?? short ?? '')
      .filter((name) => !(name in scripts));
    expect(missing).toEqual([]);
  });
});
