import { readFileSync } from 'node:fs';

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
