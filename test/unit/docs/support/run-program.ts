import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const ENTRY = /'nestjs-interlock(?:\/(?<entry>\w+))?'/g;
const LOADER = ['--import', './test/support/typescript-loader.mjs'];

/** Runs a program on the source of the library; resolves to the lines that it printed. */
export async function runProgram(code: string): Promise<string[]> {
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
