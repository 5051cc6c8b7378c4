import { spawn } from 'node:child_process';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** What a copy has not, beside hidden files; of these it needs the options of the compiler. */
const LEFT_OUT = new Set(['node_modules', 'dist']);
const isHidden = (name: string) => name.startsWith('.') && name !== '.swcrc';

/** Arguments of `npm` for these files or options of Jest; one test that fails is enough. */
export const testing = (...files: readonly string[]): string[] => [
  ...['test', '--silent', '--', '--maxWorkers=2', '--bail', '--testTimeout=10000'],
  ...files,
];

/** A copy of the project in which bugs are planted. */
export class ProjectCopy {
  readonly #folder = mkdtempSync(join(tmpdir(), 'mutants-'));

  constructor() {
    for (const name of readdirSync('.'))
      if (!LEFT_OUT.has(name) && !isHidden(name))
        cpSync(name, join(this.#folder, name), {
          recursive: true,
          filter: (path) => !path.includes('node_modules'),
        });
    symlinkSync(resolve('node_modules'), join(this.#folder, 'node_modules'));
  }

  /** Whether `npm` succeeds; a run that takes longer than `within` ms does not. */
  async passes(args: readonly string[], within = Infinity): Promise<boolean> {
    const child = spawn('npm', args, {
      cwd: this.#folder,
      stdio: 'ignore',
      detached: true, // it and all that it starts can be ended together
    });
    const timer =
      within < Infinity && setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), within);
    const code = await new Promise((done) => child.once('exit', done));
    if (timer) clearTimeout(timer);
    return code === 0;
  }

  /** Runs `work` while `change` has been made to that file. */
  async with<T>(
    file: string,
    change: (text: string) => string,
    work: () => Promise<T>,
  ): Promise<T> {
    const path = join(this.#folder, file);
    const whole = readFileSync(path, 'utf8');
    writeFileSync(path, change(whole));
    try {
      return await work();
    } finally {
      writeFileSync(path, whole);
    }
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
