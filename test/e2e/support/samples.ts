import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { compiled } from '../../support/compiled.js';

const run = promisify(execFile);
const OURS = 'nestjs-interlock';
const TICKET_OFFICE = 'sample/01-ticket-office';
const isSource = (path: string) => !/\/(dist|node_modules)$/.test(path);

interface Packages {
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
}

/**
 * Samples as their users have them: outside of the repository, with no packages but those that they name, and this one among
 * these. They are compiled as the tests are; `npm run check:package` has the TypeScript compiler build them.
 */
export class CopiedSamples {
  private readonly folder = mkdtempSync(join(tmpdir(), 'samples-'));

  constructor(names: readonly string[]) {
    const built = join(this.folder, OURS);
    cpSync(compiled('lib'), join(built, 'dist'), { recursive: true });
    cpSync('package.json', join(built, 'package.json'));
    for (const name of names) this.copy(name, built);
    this.copyTicketOffice(built);
  }

  /** The folder of the first sample, which is a part of the package's repository and has no packages of its own. */
  get ticketOffice(): string {
    return join(this.folder, OURS, TICKET_OFFICE);
  }

  /** The folder of that sample. */
  of(name: string): string {
    return join(this.folder, name);
  }

  stop(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private copy(name: string, built: string): void {
    const source = join('sample', name);
    const copy = this.of(name);
    cpSync(source, copy, { recursive: true, filter: isSource });
    cpSync(compiled(join(source, 'src')), join(copy, 'dist'), { recursive: true });
    cpSync(built, join(copy, 'node_modules', OURS), { recursive: true });
    const named = packagesOf(source);
    const wanted = {
      ...packagesOf('.').dependencies,
      ...named.dependencies,
      ...named.devDependencies,
    };
    for (const wantedName of Object.keys(wanted)) if (wantedName !== OURS) link(wantedName, copy);
  }

  private copyTicketOffice(built: string): void {
    symlinkSync(resolve('node_modules'), join(built, 'node_modules'));
    cpSync(TICKET_OFFICE, this.ticketOffice, { recursive: true, filter: isSource });
    const source = join(TICKET_OFFICE, 'src');
    cpSync(compiled(source), join(this.ticketOffice, 'dist'), { recursive: true });
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

/** More than any sample needs; one that hangs must not outlive the tests. */
const LIMIT = 80_000;

/** What a sample said that ended by itself. */
export interface SampleOutput {
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program of a sample, until it ends.
 *
 * @throws what it said, when its exit code is not 0
 */
export async function runSample(
  program: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd = '.',
): Promise<SampleOutput> {
  return run(process.execPath, program, {
    cwd,
    env: { ...process.env, ...env },
    timeout: LIMIT,
    killSignal: 'SIGKILL',
  });
}

/** The ticket office in a process of its own. */
export class TicketOfficeProcess implements AsyncDisposable {
  stdout = '';
  stderr = '';
  private readonly child: ChildProcess;
  private readonly closed: Promise<unknown>;

  /** @param port of the page; default: any that is free */
  constructor(folder: string, args: readonly string[], port: string | number = 0) {
    const env = { ...process.env, PORT: `${port}` };
    this.child = spawn(process.execPath, [join(folder, 'dist/main.js'), ...args], { env });
    this.child.stdout!.on('data', (data) => (this.stdout += data));
    this.child.stderr!.on('data', (data) => (this.stderr += data));
    this.closed = once(this.child, 'close');
  }

  /** Its exit code, when it has ended by itself or by {@link interrupt}; `null` when a signal has killed it. */
  async exitCode(): Promise<number | null> {
    await this.closed;
    return this.child.exitCode;
  }

  /** Ctrl-C. */
  interrupt(): void {
    this.child.kill('SIGINT');
  }

  /** Address of the page, once it serves that. */
  get url(): string | undefined {
    return /Watch a rush: (\S+)/.exec(this.stdout)?.[1];
  }

  /** A row of the table that it has printed. */
  row(name: string): { sold: number; oversold: number } {
    const [, sold, oversold] = new RegExp(`^${name} +(\\d+) +(\\d+) `, 'm').exec(this.stdout) ?? [];
    return { sold: Number(sold), oversold: Number(oversold) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGKILL');
    await this.closed;
  }
}
