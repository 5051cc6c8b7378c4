import { describe, expect, it } from '@jest/globals';
import { codeBlocksOf } from './support/code-blocks-of.js';
import { documents } from './support/documents.js';
import { runProgram } from './support/run-program.js';

/** Blocks that start an app and stop it again. Others need a server, or are parts of something. */
const programs = documents
  .flatMap(codeBlocksOf)
  .filter(({ language, code }) => language === 'ts' && /^const app = /m.test(code))
  .filter(({ code }) => /^await app\.close\(\);/m.test(code))
  .map(({ document, line, code }) => ({ name: `${document}:${line}`, code }));

/** What a program says that it prints: `console.log(…); // 40, as nobody else was in`. */
const announced = (code: string) =>
  [...code.matchAll(/^ *console\.log\(.*\); \/\/ ([^,\n]+)/gm)].map(([, line = '']) => line);

describe('Programs in the documents', () => {
  it('are there', () => {
    expect(programs.map(({ name }) => name)).toContainEqual(expect.stringMatching(/^README\.md/));
    expect(programs.map(({ name }) => name)).toContainEqual(
      expect.stringMatching(/getting-started/),
    );
  });

  it.each(programs)(
    'print what they say: $name',
    async ({ code }) => {
      const expected = announced(code);
      expect(expected).not.toEqual([]);
      const printed = await runProgram(code);
      expect(printed.filter((line) => expected.includes(line))).toEqual(expected);
    },
    90_000,
  );

  it('need their lock: without it the one of the README prints something else', async () => {
    const { code } = programs.find(({ name }) => name.startsWith('README.md'))!;
    expect(code).toContain('// 40, and 70 without the lock');
    expect(await runProgram(code.replace(/^ +@WithMutex.*\n/m, ''))).toContain('70');
  }, 90_000);
});
