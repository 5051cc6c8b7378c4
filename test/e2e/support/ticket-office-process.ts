import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

const MAIN = 'sample/01-ticket-office/dist/main.js';

/** The sample, built before, in a process of its own. */
export class TicketOfficeProcess implements AsyncDisposable {
  stdout = '';
  stderr = '';
  private readonly child: ChildProcess;
  private readonly closed: Promise<unknown>;

  /** @param port of the page; default: any that is free */
  constructor(args: readonly string[], port: string | number = 0) {
    const env = { ...process.env, PORT: `${port}` };
    this.child = spawn(process.execPath, [MAIN, ...args], { env });
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
