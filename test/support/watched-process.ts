import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Lets go of all that a child inherits beside its three streams. The driver's sockets are not closed on exec: a child
 * that is started while one connects keeps it open, and this process goes on hearing its events under a number that the
 * next socket gets.
 */
const CLOSE_INHERITED =
  'for fd in /proc/$$/fd/*; do fd=${fd##*/}; [ "$fd" -gt 2 ] 2>/dev/null && eval "exec $fd>&-"; done';

/** A server process that cannot outlive this one, however this one ends. */
export class WatchedProcess {
  private readonly child: ChildProcess;
  private readonly logFile: string;

  /** @param folder where it runs and writes its log; removed by the watchdog if this process dies first */
  constructor(command: string, args: readonly string[], folder: string) {
    this.logFile = join(folder, 'server.log');
    const log = openSync(this.logFile, 'a');
    const script = `${CLOSE_INHERITED}; exec "$@"`;
    this.child = spawn('bash', ['-c', script, 'bash', command, ...args], {
      cwd: folder,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    if (this.child.pid !== undefined) watch(this.child, this.child.pid, folder);
    this.child.on('error', () => {}); // could not be started: `running` says so
  }

  get running(): boolean {
    const { pid, exitCode, signalCode } = this.child;
    return pid !== undefined && exitCode === null && signalCode === null;
  }

  /** What it wrote so far. */
  get log(): string {
    return readFileSync(this.logFile, 'utf8');
  }

  /** Returns when all of its threads stand still: the system stops them one after the other, some while later. */
  freeze(): void {
    const { pid } = this.child;
    if (pid === undefined || !this.child.kill('SIGSTOP')) return;
    const deadline = performance.now() + 1_000;
    while (isMoving(pid) && performance.now() < deadline);
  }

  thaw(): void {
    this.child.kill('SIGCONT');
  }

  /** Ends it with SIGKILL, frozen or not, and waits until it is gone. */
  async kill(): Promise<void> {
    if (!this.running) return;
    const gone = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await gone;
  }
}

/**
 * Starts a shell that waits for the end of a pipe which only this process holds open. The system closes the pipe
 * even when this process is killed, and no exit handler could run.
 */
function watch(child: ChildProcess, pid: number, folder: string): void {
  const script = `${CLOSE_INHERITED}; read -r _; kill -9 "$1"; rm -rf "$2"`;
  const watchdog = spawn('bash', ['-c', script, 'bash', String(pid), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watchdog.unref();
  (watchdog.stdin as unknown as { unref(): void }).unref(); // a socket, typed as a stream
  watchdog.stdin.on('error', () => {}); // it may be gone before the pipe is closed
  child.once('exit', () => watchdog.kill('SIGKILL'));
}

/** Has the process a thread that is not stopped? False where the system does not say. */
function isMoving(pid: number): boolean {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.some((thread) => {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1');
      return !/^[TtXZ]/.test(stat.slice(stat.lastIndexOf(')') + 2)); // behind the name, which may hold anything
    });
  } catch {
    return process.platform === 'linux'; // a thread has ended meanwhile: look again
  }
}
