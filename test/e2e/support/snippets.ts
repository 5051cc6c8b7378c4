import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import ts from 'typescript';

/** A piece of TypeScript in a document. */
export interface Snippet {
  /** `docs/mutex.md, 2` */
  readonly name: string;
  readonly code: string;
}

/** What the documents take for granted, each for all of its snippets. */
export const GLOBALS = `
import type { RedisLockClient, RedisLock, RedisReadWriteLock, LockModule as Module } from 'nestjs-interlock';
import type { Redis as Client } from 'ioredis';
declare global {
  const LockModule: typeof Module;
  const Redis: typeof Client;
  type Redis = Client;
  const locks: RedisLockClient;
  const mutex: RedisLock;
  const catalogue: RedisReadWriteLock;
  const password: string;
  const sentinels: { host: string; port: number }[];
  interface Product { readonly id: string }
  function job(): Promise<void>;
  function load(): Promise<void>;
  function rebuild(): Promise<void>;
  function publish(signal: AbortSignal): Promise<void>;
}`;

/** The snippets of a document, in their order. */
export function snippetsOf(document: string): Snippet[] {
  const found = readFileSync(document, 'utf8').matchAll(/^ *```ts\n(.*?)^ *```$/gms);
  return [...found].map(([, code = ''], i) => ({ name: `${document}, ${i + 1}`, code }));
}

/**
 * What the compiler says about each of them, as modules of their own.
 *
 * @param globals a module that declares what they need not
 */
export function complaintsAbout(
  snippets: readonly Snippet[],
  globals = '',
): Map<Snippet, string[]> {
  const { config } = ts.readConfigFile('tsconfig.json', (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, resolve('.'));
  const host = ts.createCompilerHost(options);
  const files = new Map(snippets.map(({ code }, i) => [pathOf(i), `${code}\nexport {};`]));
  files.set(resolve('test/e2e/snippet-globals.ts'), globals);

  const { readFile, fileExists } = host;
  host.readFile = (path) => files.get(path) ?? readFile(path);
  host.fileExists = (path) => files.has(path) || fileExists(path);
  const unused = { noUnusedLocals: false, noUnusedParameters: false }; // an example shows, it does not use
  const program = ts.createProgram([...files.keys()], { ...options, ...unused }, host);
  const messages = (path: string) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(path))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  return new Map(snippets.map((snippet, i) => [snippet, messages(pathOf(i))]));
}

function pathOf(index: number): string {
  return resolve(`test/e2e/snippet-${index}.ts`);
}
