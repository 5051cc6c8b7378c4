import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

const snippets = [...readFileSync('README.md', 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(
  ([, code]) => code!,
);

/** What the compiler says about a program whose main file is not on the disk. */
function complaintsAbout(code: string): string[] {
  const file = resolve('test/e2e/readme-snippet.ts');
  const { config } = ts.readConfigFile('tsconfig.json', (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, resolve('.'));
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists } = host;
  host.readFile = (path) => (path === file ? code : readFile(path));
  host.fileExists = (path) => path === file || fileExists(path);
  const program = ts.createProgram([file], options, host);
  return ts
    .getPreEmitDiagnostics(program, program.getSourceFile(file))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

/** Runs a program on the library's source; resolves to the lines that it printed. */
async function run(code: string): Promise<string[]> {
  const folder = mkdtempSync(resolve('test/e2e/readme-'));
  try {
    const file = join(folder, 'main.ts');
    const library = pathToFileURL(resolve('lib/index.ts')).href;
    writeFileSync(file, code.replace("'nestjs-interlock'", `'${library}'`));
    const loader = './test/support/typescript-loader.mjs';
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', loader, file]);
    return stdout.split('\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('The README', () => {
  it.each(snippets.map((code, index) => ({ number: index + 1, code })))(
    'has a snippet $number that compiles',
    ({ code }) => expect(complaintsAbout(code)).toEqual([]),
  );

  it('begins with an app that prints what it says, with the lock and without', async () => {
    const [app = ''] = snippets;
    expect(app).toContain('// 40, and 70 without the lock');
    expect(await run(app)).toContain('40');
    expect(await run(app.replace(/^ +@WithMutex.*\n/m, ''))).toContain('70');
  });
});
