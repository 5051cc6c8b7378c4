import { dirname, resolve } from 'node:path';
import ts from 'typescript';
import type { CodeBlock } from './code-blocks-of.js';

const PRELUDE_FILE = resolve('docs/prelude.ts');

/**
 * What the compiler says about each block, as a module of its own in the folder of its document.
 *
 * @param prelude a module that declares what the blocks need not
 */
export function complaintsAbout(
  blocks: readonly CodeBlock[],
  prelude = '',
): Map<CodeBlock, string[]> {
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
