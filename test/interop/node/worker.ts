import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { LeaderLatch } from '../../../lib/core/election/leader-latch.js';

/** Connection to the process that observes the fleet, which has recorded a line when the promise resolves. */
class ObserverConnection {
  private readonly answers: AsyncIterator<string>;

  private constructor(private readonly socket: Socket) {
    this.answers = createInterface({ input: socket })[Symbol.asyncIterator]();
  }

  /** @param name of the worker that reports */
  static async open(port: number, name: string): Promise<ObserverConnection> {
    const socket = connect(port, '127.0.0.1').setNoDelay();
    await once(socket, 'connect');
    const connection = new ObserverConnection(socket);
    await connection.tell(`name ${name}`);
    return connection;
  }

  async tell(event: string): Promise<void> {
    this.socket.write(`${event}\n`);
    if ((await this.answers.next()).done) throw new Error('The observer has gone');
  }

  close(): void {
    this.socket.end();
  }
}

/** What a member of the fleet was granted. */
export interface WorkerHold {
  /** False once it was lost. */
  readonly isHeld: boolean;
  release(): Promise<void>;
}

/** The lock that a member of the fleet acquires again and again. */
export interface WorkerLock<H extends WorkerHold> {
  /** Waits for it; `undefined` when that took so long that it may be time to rest. */
  acquire(): Promise<H | undefined>;
}

const LONGEST_HOLD = 5;

/** Number of a hold; below 0 where the lock does not number them. */
export type Sequence<H> = (hold: H) => number | Promise<number>;

/** A member of the fleet: acquires the lock, holds it for 0 to 5 ms, releases it, again and again. */
export class Worker<H extends WorkerHold> {
  private static isOver = false;
  private failures = 0;

  private constructor(
    private readonly lock: WorkerLock<H>,
    private readonly observer: ObserverConnection,
    private readonly sequence: Sequence<H>,
  ) {}

  /** Works until it has to rest, and reports to the observer on that port; resolves to how often an acquire was rejected. */
  static async work<H extends WorkerHold>(
    lock: WorkerLock<H>,
    port: number,
    name: string,
    sequence: Sequence<H>,
  ): Promise<string> {
    const observer = await ObserverConnection.open(port, name);
    const worker = new Worker(lock, observer, sequence);
    await worker.run();
    observer.close();
    return String(worker.failures);
  }

  /** Ends the work of all workers of this process. */
  static rest(): void {
    Worker.isOver = true;
  }

  private async run(): Promise<void> {
    Worker.isOver = false;
    while (!Worker.isOver) {
      const hold = await this.acquire();
      if (hold) await this.keep(hold);
    }
  }

  private async acquire(): Promise<H | undefined> {
    try {
      return await this.lock.acquire();
    } catch {
      this.failures += 1;
    }
  }

  private async keep(hold: H): Promise<void> {
    if (hold.isHeld) {
      await this.observer.tell(`begin ${await this.sequence(hold)}`);
      await delay(Math.floor(Math.random() * (LONGEST_HOLD + 1)));
      // Before the release: no other worker may be granted the lock until then.
      await this.observer.tell(hold.isHeld ? 'end' : 'lost');
    }
    await hold.release();
  }
}

const CLAIM_EVERY = 5;

/**
 * Starts the latch of a member of a fleet that stands for election: while it leads, it sends a claim every few ms, with its
 * token, to the observer on that port, under that name. Resolves when the latch is closed.
 */
export async function standForElection(
  latch: LeaderLatch,
  port: number,
  name: string,
): Promise<void> {
  const observer = await ObserverConnection.open(port, name);
  let hasClaimed = false;
  latch.start();
  while (latch.state !== 'CLOSED') {
    const { leadership } = latch;
    const token = await leadership?.fencingToken().catch(() => undefined); // lost meanwhile
    if (token !== undefined && leadership!.isHeld) {
      hasClaimed = true;
      await observer.tell(`claim ${token}`);
    } else if (!leadership && hasClaimed) {
      hasClaimed = false;
      await observer.tell('lost');
    }
    await delay(CLAIM_EVERY);
  }
  observer.close();
}
