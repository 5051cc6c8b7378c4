import { beforeAll, describe, expect, it } from '@jest/globals';
import { codeBlocksOf } from './support/code-blocks-of.js';
import { documents } from './support/documents.js';
import { runTests } from './support/run-tests.js';

/** Blocks that are tests; one that only declares what it is about cannot be run. */
const tests = documents
  .flatMap(codeBlocksOf)
  .filter(({ language, code }) => language === 'ts' && code.includes("from '@jest/globals'"))
  .filter(({ code }) => !/^declare /m.test(code))
  .map(({ document, line, code }, index) => ({ index, name: `${document}:${line}`, code }));

const wrong = "import { expect, it } from '@jest/globals';\nit('fails', () => expect(1).toBe(2));";

describe('Tests in the documents', () => {
  let said: string[];
  beforeAll(async () => {
    said = await runTests([...tests.map(({ code }) => code), wrong]);
  }, 180_000);

  it('are there', () => {
    const pages = tests.map(({ name }) => name.replace(/:\d+$/, ''));
    expect(pages).toEqual(expect.arrayContaining(['docs/getting-started.md', 'docs/testing.md']));
  });

  it.each(tests)('pass: $name', ({ index }) => expect(said[index]).toBe(''));

  it('could fail', () => expect(said.at(-1)).toContain('Expected: 2'));
});
