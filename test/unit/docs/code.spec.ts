import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { type CodeBlock, codeBlocksOf, documents } from './support/documents.js';

/**
 * What the documents take for granted in short examples, those without an import: `locks` is the client on Redis or, on
 * the pages of ZooKeeper, `zookeeper`; the others are of the reader.
 */
const PRELUDE = `
import type {
  LockClient, LockModule as Module, RedisLock, RedisLockClient, RedisReadWriteLock, RedLockClient, ZooKeeperLockClient,
} from 'nestjs-interlock';
import type { Redis as Client } from 'ioredis';
declare global {
  const LockModule: typeof Module;
  const Redis: typeof Client;
  type Redis = Client;
  const locks: RedisLockClient;
  const redLock: RedLockClient;
  const zookeeper: ZooKeeperLockClient;
  const local: LockClient;
  const mutex: RedisLock;
  const catalogue: RedisReadWriteLock;
  const password: string;
  const sentinels: { host: string; port: number }[];
  interface Product { readonly id: string }
  interface Place { readonly latitude: number; readonly longitude: number }
  function job(): Promise<void>;
  function load(): Promise<void>;
  function rebuild(): Promise<void>;
  function publish(signal: AbortSignal): Promise<void>;
  function save(token: bigint): Promise<void>;
}`;

const PRELUDE_FILE = resolve('docs/prelude.ts');

/**
 * What the compiler says about each block, as a module of its own in the folder of its document.
 *
 * @param prelude a module that declares what the blocks need not
 */
function complaintsAbout(blocks: readonly CodeBlock[], prelude = ''): Map<CodeBlock, string[]> {
  const { config } = ts.readConfigFile('tsconfig.json', (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, resolve('.'));
  const host = ts.createCompilerHost(options);
  const files = new Map(blocks.map((block) => [pathOf(block), `${block.code}\nexport {};`]));
  files.set(PRELUDE_FILE, `${prelude}\nexport {};`);

  const { readFile, fileExists } = host;
  host.readFile = (path) => files.get(path) ?? readFile(path);
  host.fileExists = (path) => files.has(path) || fileExists(path);
  const unused = { noUnusedLocals: false, noUnusedParameters: false }; // an example shows, it does not use
  const program = ts.createProgram([...files.keys()], { ...options, ...unused }, host);
  const complaints = (block: CodeBlock) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(pathOf(block)))
      .map((diagnostic) => shown(block, diagnostic));
  return new Map(blocks.map((block) => [block, complaints(block)]));
}

function pathOf({ document, line }: CodeBlock): string {
  return resolve(dirname(document), `${document.replaceAll(/\W/g, '-')}-${line}.ts`);
}

function shown(block: CodeBlock, { file, start = 0, messageText }: ts.Diagnostic): string {
  const line = file?.getLineAndCharacterOfPosition(start).line ?? 0;
  const message = ts.flattenDiagnosticMessageText(messageText, '\n');
  return `${block.document}:${block.line + line} ${message}`;
}

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

const ENTRY = /'nestjs-interlock(?:\/(?<entry>\w+))?'/g;
const LOADER = ['--import', './test/support/typescript-loader.mjs'];

/** Runs a program on the source of the library; resolves to the lines that it printed. */
async function runProgram(code: string): Promise<string[]> {
  const folder = mkdtempSync(resolve('test/unit/docs/program-')); // inside, for the packages that it imports
  try {
    const file = join(folder, 'main.ts');
    writeFileSync(
      file,
      code.replaceAll(ENTRY, (_, entry = '') => `'${urlOf(entry as string)}'`),
    );
    const { stdout } = await promisify(execFile)(process.execPath, [...LOADER, file], {
      env: { ...process.env, LOCKS_BACKEND: 'embedded' }, // as a page has it
    });
    return stdout.split('\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function urlOf(entry: string): string {
  return pathToFileURL(resolve('lib', entry, 'index.ts')).href;
}

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

const JEST = [
  '--experimental-vm-modules',
  'node_modules/jest/bin/jest.js',
  '--runInBand',
  '--json',
];
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
