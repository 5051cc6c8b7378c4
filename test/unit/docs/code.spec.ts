import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { type CodeBlock, codeBlocksOf, documents } from './support/documents.js';

/**
 * What the documents take for granted in short examples, those without an import: the decorators, `locks`, which is the
 * client on Redis or, on the pages of ZooKeeper, `zookeeper`; the others are of the reader.
 */
const PRELUDE = `
import type { AsyncLocalStorage as Storage } from 'node:async_hooks';
import type * as nest from '@nestjs/common';
import type * as interlock from 'nestjs-interlock';
import type {
  LockClient, RedisLock, RedisLockClient, RedisReadWriteLock, RedLockClient, ZooKeeperLockClient,
} from 'nestjs-interlock';
import type { Redis as Client } from 'ioredis';
import type * as nodeRedis from 'redis';
declare global {
  class AsyncLocalStorage<T> extends Storage<T> {}
  const ConflictException: typeof nest.ConflictException;
  const Injectable: typeof nest.Injectable;
  const Module: typeof nest.Module;
  const LockModule: typeof interlock.LockModule;
  const LockDefaults: typeof interlock.LockDefaults;
  const WithMutex: typeof interlock.WithMutex;
  const ReadLock: typeof interlock.ReadLock;
  const WriteLock: typeof interlock.WriteLock;
  const Semaphore: typeof interlock.Semaphore;
  const WithMultiLock: typeof interlock.WithMultiLock;
  const LockStream: typeof interlock.LockStream;
  const currentLease: typeof interlock.currentLease;
  const Redis: typeof Client;
  type Redis = Client;
  type RedisClientType = nodeRedis.RedisClientType;
  const REDIS: unique symbol;
  const locks: RedisLockClient;
  const redLock: RedLockClient;
  const zookeeper: ZooKeeperLockClient;
  const local: LockClient;
  const mutex: RedisLock;
  const catalogue: RedisReadWriteLock;
  const password: string;
  const [ca, cert, key]: [Buffer, Buffer, Buffer];
  const sentinels: { host: string; port: number }[];
  class DataSource { transaction<T>(work: (manager: any) => Promise<T>): Promise<T> } // \`npm run test:databases\` has
  type Transaction = (work: (tx: any) => Promise<void>) => Promise<void>; // the real types of these
  const prisma: { $transaction: Transaction };
  const drizzle: { transaction: Transaction };
  const knex: { transaction: Transaction };
  const chairs: any;
  const chair: any;
  function and(...conditions: unknown[]): unknown;
  function eq(column: unknown, value: unknown): unknown;
  function lte(column: unknown, value: unknown): unknown;
  function sql(...text: any[]): unknown;
  const id: string;
  const token: bigint;
  class Chair {}
  const LessThanOrEqual: (value: string) => unknown;
  const cache: import('cache-manager').Cache;
  function compute(id: string): Promise<string>;
  function job(): Promise<void>;
  function load(): Promise<void>;
  function rebuild(): Promise<void>;
  function publish(signal: AbortSignal): Promise<void>;
  function save(token: bigint): Promise<void>;
}`;

const PRELUDE_FILE = resolve('docs/prelude.ts');

/** The library and what it depends on: parsed once for both programs. */
const parsed = new Map<string, ts.SourceFile | undefined>();

/**
 * What the compiler says about each block, as a module of its own in the folder of its document.
 *
 * @param prelude a module that declares what the blocks need not
 */
function complaintsAbout(blocks: readonly CodeBlock[], prelude = ''): Map<CodeBlock, string[]> {
  const { config } = ts.readConfigFile('tsconfig.json', (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, resolve('.'));
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists, getSourceFile } = host;
  const files = new Map(
    blocks.map((block) => [
      pathOf(block),
      `${block.code.replace("'vitest'", "'@jest/globals'")}\nexport {};`, // Vitest is not installed here
    ]),
  );
  files.set(PRELUDE_FILE, `${prelude}\nexport {};`);

  host.readFile = (path) => files.get(path) ?? readFile(path);
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.getSourceFile = (path, ...how) => {
    const source = parsed.get(path) ?? getSourceFile(path, ...how);
    if (!files.has(path)) parsed.set(path, source);
    return source;
  };
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
