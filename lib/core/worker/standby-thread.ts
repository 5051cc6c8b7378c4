import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { LockOptionsError } from '../errors/index.js';
import { NotShown } from '../errors/shown-value.js';

/** Options of the thread that keeps locks while the event loop is blocked. */
export interface RenewalWorkerOptions {
  /**
   * For how long the main thread may show no sign of life before the thread stops, too: from the `watchdogTimeout` (Redis) or the
   * `sessionTimeout` (ZooKeeper) to 2^31 - 1 milliseconds. Longer than what your code may block, and as short as others can wait
   * for a process that hangs.
   */
  readonly maxStall: number;
}

/** News of the thread: that it is ready, or what keeps it from that, for the log. */
export type ThreadNews = 'ready' | { readonly trouble: string };

const CHECK = 'Check the credentials, and how many connections the server allows.';
const RESTART = 'Find the reason, and restart the process.';

/** Parts of a {@link StandbyThread}. */
interface StandbyThreadSettings {
  readonly client: string;
  /** Where its file is: beside the file that asks for it, in the sources as in the package. */
  readonly file: URL;
  /** Called when it has ended by itself. */
  readonly ended: () => void;
  /** Text of an error, without credentials. */
  readonly reasonOf: (error: unknown) => string;
}

/**
 * A thread that keeps the locks of one client while the main thread shows no sign of life. It does not keep the process alive.
 *
 * Invariant: if it ends by itself, or reports that it cannot connect, locks are as without it, and there is one warning.
 */
export class StandbyThread {
  #starting?: Promise<MessagePort | undefined>;
  #thread?: Worker;
  #hasStarted = false;
  #isClosed = false;
  #hasWarned = false;

  constructor(private readonly settings: StandbyThreadSettings) {}

  /**
   * Resolves to a port to the thread when that is ready, or has reported why it is not, and to `undefined` once it was closed; rejects
   * with `LockOptionsError` if its file cannot be run.
   *
   * @param dataOf what it gets at its start, with the other end of the port
   */
  start(dataOf: (port: MessagePort) => object): Promise<MessagePort | undefined> {
    this.#starting ??= this.#start(dataOf);
    return this.#starting;
  }

  /** Ends the thread, and with it its connections. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#thread?.terminate();
  }

  async #start(dataOf: (port: MessagePort) => object): Promise<MessagePort | undefined> {
    if (this.#isClosed) return undefined;
    const { port1, port2 } = new MessageChannel();
    try {
      const options = {
        workerData: dataOf(port2),
        transferList: [port2],
        name: 'nestjs-interlock',
      };
      const thread = new Worker(this.settings.file, options);
      this.#thread = thread;
      await new Promise<void>((resolve, reject) => {
        thread.on('message', (news: ThreadNews) => {
          if (news !== 'ready') this.#warn(news.trouble, CHECK);
          resolve(); // a client whose thread is in trouble goes on without it
        });
        thread.on('error', (error) => {
          reject(error);
          this.#end(`has failed (${this.settings.reasonOf(error)})`);
        });
        thread.on('exit', () => {
          reject(new Error('it has ended'));
          this.#end('has ended');
        });
      });
      this.#hasStarted = true;
      thread.unref();
    } catch (error) {
      port1.close();
      if (!this.#isClosed) throw this.#notStarted(error);
      return undefined;
    }
    if (!this.#isClosed) return port1;
    port1.close();
    return undefined;
  }

  #notStarted(cause: unknown): LockOptionsError {
    return new LockOptionsError(
      'renewalWorker',
      new NotShown('given, but its thread could not be started'),
      `it where that is possible (${this.settings.reasonOf(cause)}): in a bundle leave \`nestjs-interlock\` external; or leave the option out`,
      { client: this.settings.client, cause },
    );
  }

  /** Before the thread has started, the failure is that of `start`. */
  #end(how: string): void {
    this.settings.ended();
    if (this.#hasStarted && !this.#isClosed) this.#warn(how, RESTART);
  }

  #warn(how: string, advice: string): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    process.emitWarning(
      `The thread that keeps the locks of client "${this.settings.client}" while the event loop is blocked ${how}. Only the main thread keeps them now, as without \`renewalWorker\`. ${advice}`,
    );
  }
}
