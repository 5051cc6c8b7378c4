import { once } from 'node:events';
import { closeSync, openSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { LockTimeoutError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import type { Mutex } from '../../lib/core/lock.js';

/** What a lock protects, across processes: a file that only one of them may have created. */
export class ExclusiveFile {
  /** How often another process was inside. */
  violations = 0;

  constructor(private readonly path: string) {}

  enter(): void {
    try {
      closeSync(openSync(this.path, 'wx'));
    } catch {
      this.violations += 1;
    }
  }

  leave(): void {
    rmSync(this.path, { force: true });
  }
}

/** Result of the contention. */
export interface Contention {
  grants: number;
  timeouts: number;
  losses: number;
}

/** Acquires the lock for a short while, waits for it, gives up at times, again and again until `isOver`. */
export async function contend(
  mutex: Mutex,
  file: ExclusiveFile,
  count: Contention,
  isOver: () => boolean,
): Promise<void> {
  for (let round = 0; !isOver(); round++) {
    const lease = await mutex.acquire({ wait: round % 5 === 0 ? 20 : 10_000 }).catch(timedOut);
    if (lease === undefined) count.timeouts += 1;
    else await hold(lease, file, count);
    await delay(5);
  }
}

function timedOut(error: unknown): undefined {
  if (!(error instanceof LockTimeoutError)) throw error;
}

async function hold(lease: Lease, file: ExclusiveFile, count: Contention): Promise<void> {
  let isInside = true;
  const leave = () => {
    if (isInside) file.leave();
    isInside = false;
  };
  if (!lease.isHeld) return lease.release(); // lost before it could be checked
  file.enter();
  count.grants += 1;
  lease.signal.addEventListener('abort', () => {
    count.losses += 1;
    leave(); // at once: another process may be granted the lock from now on
  });
  await delay(10);
  leave();
  await lease.release();
}

/** Maximum time for a connection on loopback, in ms: a connection without its echo by then will never get it. */
const PATIENCE = 3_000;

/** TCP connections of other code in this process, which nothing that happens to ours may harm. */
export class ForeignTraffic {
  opened = 0;
  /** Connections that did not receive their echo in time. */
  hung = 0;
  private readonly underWay = new Set<Promise<void>>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<ForeignTraffic> {
    const server = createServer((socket) => {
      socket.on('error', () => {}); // the other side has given up
      socket.pipe(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ForeignTraffic(server);
  }

  /** Opens a connection in this turn of the event loop. */
  open(): void {
    this.opened += 1;
    const task = this.echo().then((isEchoed) => {
      if (!isEchoed) this.hung += 1;
      this.underWay.delete(task);
    });
    this.underWay.add(task);
  }

  /** Resolves when every connection so far has had its echo, or has been given up. */
  async settled(): Promise<void> {
    await Promise.all(this.underWay);
  }

  private echo(): Promise<boolean> {
    const { port } = this.server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1', () => socket.write('x'));
    return new Promise((resolve) => {
      const timer = setTimeout(() => end(false), PATIENCE);
      const end = (isEchoed: boolean) => {
        clearTimeout(timer);
        socket.destroy();
        resolve(isEchoed);
      };
      socket.on('error', () => end(false));
      socket.once('data', () => end(true));
    });
  }
}

/**
 * Ten clients that send requests to an HTTP service again and again, each time on a new connection. The returned function ends
 * it.
 */
export function httpLoad(port: number): () => void {
  let isOver = false;
  const ask = () => {
    if (isOver) return;
    get({ port, host: '127.0.0.1', agent: false }, (response) => {
      response.resume();
      response.on('end', () => setTimeout(ask, 2));
    }).on('error', () => setTimeout(ask, 50));
  };
  for (let n = 0; n < 10; n++) ask();
  return () => (isOver = true);
}
