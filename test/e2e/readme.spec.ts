import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { complaintsAbout, GLOBALS, snippetsOf } from './support/snippets.js';

const readme = snippetsOf('README.md');
const documents = ['mutex', 'read-write-lock', 'redis'].flatMap((name) =>
  snippetsOf(`docs/${name}.md`),
);

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

describe('Examples', () => {
  const complaints = [...complaintsAbout(readme), ...complaintsAbout(documents, GLOBALS)];

  it.each(complaints.map(([{ name }, said]) => ({ name, said })))('compile: $name', ({ said }) =>
    expect(said).toEqual([]),
  );
});

describe('The README', () => {
  it('begins with an app that prints what it says, with the lock and without', async () => {
    const { code: app } = readme[0]!;
    expect(app).toContain('// 40, and 70 without the lock');
    expect(await run(app)).toContain('40');
    expect(await run(app.replace(/^ +@WithMutex.*\n/m, ''))).toContain('70');
  }, 90_000);
});
