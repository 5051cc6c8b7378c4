import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const TSC = resolve('node_modules/typescript/bin/tsc');
const OURS = 'nestjs-interlock';

interface Packages {
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
}

/**
 * Samples as their users have them: copied out of the repository and built there, with no packages but those that they
 * name, and the built package among these. That of the repository may be in use meanwhile, and stays as it is.
 */
export class CopiedSamples {
  private readonly folder = mkdtempSync(join(tmpdir(), 'samples-'));

  constructor(private readonly names: readonly string[]) {}

  /** @throws what the compiler said, when one of them does not compile */
  async build(): Promise<void> {
    const built = join(this.folder, OURS);
    // Its types are checked elsewhere, and source maps are not needed.
    const quickly = ['--noCheck', '--sourceMap', 'false', '--inlineSources', 'false'];
    await compile('-p', 'tsconfig.build.json', ...quickly, '--outDir', join(built, 'dist'));
    cpSync('package.json', join(built, 'package.json'));
    for (const name of this.names) this.copy(name, built);
    await compile('-b', ...this.names.map((name) => join(this.of(name), 'tsconfig.build.json')));
  }

  /** The folder of that sample. */
  of(name: string): string {
    return join(this.folder, name);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private copy(name: string, built: string): void {
    const source = join('sample', name);
    const copy = this.of(name);
    const isSource = (path: string) => !/\/(dist|node_modules)$/.test(path);
    cpSync(source, copy, { recursive: true, filter: isSource });
    cpSync(built, join(copy, 'node_modules', OURS), { recursive: true });
    const named = packagesOf(source);
    const wanted = {
      ...packagesOf('.').dependencies,
      ...named.dependencies,
      ...named.devDependencies,
    };
    for (const wantedName of Object.keys(wanted)) if (wantedName !== OURS) link(wantedName, copy);
  }
}

function packagesOf(folder: string): Packages {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Packages;
}

function link(name: string, app: string): void {
  const path = join(app, 'node_modules', name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(resolve('node_modules', name), path);
}

async function compile(...args: string[]): Promise<void> {
  await run(process.execPath, [TSC, ...args]).catch(({ stdout }) => {
    throw new Error(`The build failed.\n${stdout}`);
  });
}
