import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { transformFileSync } from '@swc/core';
import { compiled } from '../../support/compiled.js';
import { codeBlocksOf, documents } from './support/documents.js';

/** Blocks that start an app and stop it again. Others need a server, or are parts of something. */
const programs = documents
  .flatMap(codeBlocksOf)
  .filter(
    ({ language, code }) => language === 'ts' && /^ *const app = await NestFactory/m.test(code),
  )
  .filter(({ code }) => /^ *await app\.close\(\);/m.test(code))
  .map(({ document, line, code }) => ({ name: `${document}:${line}`, code }));

/** What a program says that it prints: `console.log(…); // 40, as nobody else was in`. */
const announced = (code: string) =>
  [...code.matchAll(/^ *console\.log\(.*\); \/\/ ([^,\n]+)/gm)].map(([, line = '']) => line);

describe('Programs in the documents', () => {
  it('are there', () => {
    expect(programs.map(({ name }) => name)).toContainEqual(expect.stringMatching(/^README\.md/));
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

const ENTRY = /'nestjs-interlock(?:\/(?<entry>\w+))?'/g;

/** Runs a program on the source of the library; resolves to the lines that it printed. */
async function runProgram(code: string): Promise<string[]> {
  const folder = mkdtempSync(resolve('test/unit/docs/program-')); // inside, for the packages that it imports
  try {
    const source = join(folder, 'main.ts');
    writeFileSync(
      source,
      code.replaceAll(ENTRY, (_, entry = '') => `'${urlOf(entry as string)}'`),
    );
    const program = join(folder, 'main.mjs');
    writeFileSync(program, transformFileSync(source).code);
    const { stdout } = await promisify(execFile)(process.execPath, [program], {
      env: { ...process.env, LOCKS_BACKEND: 'embedded' }, // as a page has it
    });
    return stdout.split('\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function urlOf(entry: string): string {
  return pathToFileURL(compiled(join('lib', entry, 'index.ts'))).href;
}

/** Blocks that are tests; one that only declares what it is about cannot be run. */
const tests = documents
  .flatMap(codeBlocksOf)
  .map((block) => ({ ...block, code: block.code.replace("'vitest'", "'@jest/globals'") })) // the same there
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
    expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/testing.md']));
  });

  it.each(tests)('pass: $name', ({ index }) => expect(said[index]).toBe(''));

  it('could fail', () => expect(said.at(-1)).toContain('Expected: 2'));
});

const JEST = ['node_modules/jest/bin/jest.js', '--runInBand', '--json'];
const CONFIG = ['--config', 'test/unit/docs/support/jest.config.js'];

/** What is used of Jest's report. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly unknown[];
  }[];
}

/**
 * Runs test files on the source of the library, all in one run of Jest; resolves to what it says of the failures of each: an
 * empty text where all of its tests pass.
 */
async function runTests(files: readonly string[]): Promise<string[]> {
  const folder = mkdtempSync(resolve('test/unit/docs/program-')); // inside, for the packages that they import
  try {
    files.forEach((code, i) => writeFileSync(join(folder, `${i}.documented.ts`), code));
    const run = promisify(execFile)(process.execPath, [...JEST, ...CONFIG, folder]);
    const { stdout } = await run.catch((failure: unknown) => failure as { stdout: string });
    const { testResults } = JSON.parse(stdout) as Report;
    const said = new Map(
      testResults.map(({ name, message, assertionResults }) => [
        basename(name),
        assertionResults.length === 0 ? `No test was run. ${message}` : message,
      ]),
    );
    return files.map((_, i) => said.get(`${i}.documented.ts`) ?? 'It was not run.');
  } finally {
    rmSync(folder, { recursive: true });
  }
}
