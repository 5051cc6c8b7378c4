import { existsSync, readdirSync, readFileSync } from 'node:fs';
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

/** A block of code in a document. */
export interface CodeBlock {
  readonly document: string;
  /** Where its code begins. */
  readonly line: number;
  /** `ts`, `sh`, or nothing. */
  readonly language: string;
  /** What stands behind the language, such as `no-check`. */
  readonly note: string;
  /** Without the indentation of the block. */
  readonly code: string;
}

const BLOCK = /^(?<indent> *)```(?<language>\w*) *(?<note>.*)\n(?<code>(?:.*\n)*?)\k<indent>```$/gm;

/** The blocks of code of a document, in their order. */
export function codeBlocksOf(document: string): CodeBlock[] {
  const text = readFileSync(document, 'utf8');
  return [...text.matchAll(BLOCK)].map(({ index, groups }) => {
    const { indent = '', language = '', note = '', code = '' } = groups ?? {};
    return {
      document,
      line: text.slice(0, index).split('\n').length + 1,
      language,
      note,
      code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    };
  });
}
