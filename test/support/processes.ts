import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Lets go of all that a child inherits beside its three streams. The driver's sockets are not closed on exec: a child
 * that is started while one connects keeps it open, and this process goes on hearing its events under a number that the
 * next socket gets.
 */
const CLOSE_INHERITED =
  'for fd in /proc/$$/fd/*; do fd=${fd##*/}; [ "$fd" -gt 2 ] 2>/dev/null && eval "exec $fd>&-"; done';

/**
 * Starts a watchdog, then becomes the server. The watchdog reads a pipe of which only the parent holds the other end, and the
 * system closes that even if the parent is killed, when no exit handler could run. It is in a process group of its own, so that
 * what ends a whole group leaves it to clear up. One spawn for both: to fork a process of a gigabyte takes 50 ms of CPU time.
 */
const WATCHED = `exec <&3
${CLOSE_INHERITED}
folder=$1; shift
set -m
( read -r _ && exit; kill -9 $$; rm -rf "$folder" ) <&0 >/dev/null 2>&1 &
set +m
exec "$@" </dev/null`;

/** A server process that cannot outlive this one, however this one ends. */
export class WatchedProcess {
  private readonly child: ChildProcess;
  private readonly logFile: string;

  /** @param folder where it runs and writes its log; removed by the watchdog if this process dies first */
  constructor(command: string, args: readonly string[], folder: string) {
    this.logFile = join(folder, 'server.log');
    const log = openSync(this.logFile, 'a');
    this.child = spawn('bash', ['-c', WATCHED, 'bash', folder, command, ...args], {
      cwd: folder,
      stdio: ['ignore', log, log, 'pipe'], // not the first: Node closes that before it says that the server has ended
    });
    closeSync(log);
    const watchdog = this.child.stdio[3] as Socket;
    watchdog.unref();
    watchdog.on('error', () => {}); // it may be gone already
    this.child.on('error', () => {}); // could not be started: `running` says so
    this.child.once('exit', () => watchdog.end('over\n'));
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

  /** Ends it, by default with SIGKILL, frozen or not, and waits until it is gone. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (!this.running) return;
    const gone = once(this.child, 'exit');
    this.child.kill(signal);
    await gone;
  }
}

/** A server of a test, with what it writes in a temporary folder. */
export abstract class TestServer {
  protected readonly folder: string;
  protected process: WatchedProcess | undefined;

  constructor(kind: string) {
    this.folder = mkdtempSync(join(tmpdir(), `${kind}-`));
  }

  /** Whether its process exists, frozen or not. */
  get running(): boolean {
    return this.process?.running ?? false;
  }

  /** SIGKILL, or another one. */
  async kill(signal?: NodeJS.Signals): Promise<void> {
    await this.process?.kill(signal);
  }

  /** SIGSTOP: it keeps its connections and answers nothing. */
  freeze(): void {
    this.process?.freeze();
  }

  /** SIGCONT: it goes on where it was. */
  thaw(): void {
    this.process?.thaw();
  }

  /** Ends it for good, frozen or not, and removes its folder. */
  async stop(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Makes and starts what listens on free ports: anew, on other ones, as another process may win a port meanwhile. */
export async function startedOnFreePorts<T extends { stop(): unknown }>(
  make: () => T | Promise<T>,
  start: (made: T) => Promise<unknown>,
  attempts = 5,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const made = await make();
    try {
      await start(made);
      return made;
    } catch (error) {
      await made.stop();
      if (attempt === attempts) throw error;
    }
  }
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

/**
 * Finds ports that have no listener, and that no other test gets: a server that is down for a moment comes back on its own.
 *
 * They lie below the range from which the system takes the source ports of outgoing connections. From inside
 * that range, a server that is down for a moment could lose its port to any client, and a client that tries to
 * reach it could even connect to itself.
 *
 * @param count how many, all different
 * @param host the loopback address that they must be free on
 */
export async function freePorts(count: number, host: string): Promise<number[]> {
  const held: Server[] = [];
  try {
    while (held.length < count) {
      const port = anyOfOurs();
      const server = given.has(port) ? undefined : await listen(port, host);
      if (server === undefined) continue;
      given.add(port);
      held.push(server);
    }
    return held.map((server) => (server.address() as { port: number }).port);
  } finally {
    await Promise.all(held.map((server) => new Promise((done) => server.close(done))));
  }
}

const LOWEST = 10_000;
/** Into so many parts the ports are divided among the workers of Jest, which do not know what the others have down. */
const PARTS = 8;

/** Those of this process. */
const given = new Set<number>();

function anyOfOurs(): number {
  const size = Math.floor((firstOutgoingPort() - LOWEST) / PARTS);
  const part = Number(process.env.JEST_WORKER_ID ?? 0) % PARTS;
  return LOWEST + part * size + randomInt(size);
}

function firstOutgoingPort(): number {
  try {
    const [first] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/);
    return Math.max(Number(first), LOWEST + 10_000);
  } catch {
    return 32_768;
  }
}

function listen(port: number, host: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    );
    server.listen(port, host, () => resolve(server));
  });
}
