import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { compiled } from '../../support/compiled.js';

/** How a program ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What it wrote to standard error. */
  readonly errors: string;
}

/**
 * A TypeScript file of the tests in a process of its own: for what could take the process down, or needs it to itself.
 *
 * It speaks by `process.send`, one message for each word of news. It should end with its `disconnect`.
 */
export class Program {
  readonly exited: Promise<Exit>;
  private readonly child: ChildProcess;
  private readonly messages: unknown[] = [];

  /** @param url of the file; it finds the arguments in `process.argv` */
  constructor(url: URL, args: readonly string[] = [], nodeArgs: readonly string[] = []) {
    this.child = fork(compiled(fileURLToPath(url)), args, {
      execArgv: [...nodeArgs],
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    });
    let errors = '';
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => (errors += text));
    this.child.on('message', (message) => this.messages.push(message));
    this.exited = once(this.child, 'close').then(([code, signal]) => ({ code, signal, errors }));
  }

  /** Its next message; rejects when it ends without one. */
  async next<T>(): Promise<T> {
    if (this.messages.length === 0) {
      const ended = this.exited.then((exit) => {
        if (this.messages.length > 0) return;
        throw new Error(`The program has ended, ${JSON.stringify(exit)}`);
      });
      await Promise.race([once(this.child, 'message'), ended]);
    }
    return this.messages.shift() as T;
  }

  /** Sends it a message. */
  tell(message: string): void {
    this.child.send(message);
  }

  /** SIGSTOP: it stands still. */
  freeze(): void {
    this.child.kill('SIGSTOP');
  }

  /** SIGCONT: it goes on. */
  thaw(): void {
    this.child.kill('SIGCONT');
  }

  /** Ends it by force, if it still runs. */
  async stop(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
  }
}
