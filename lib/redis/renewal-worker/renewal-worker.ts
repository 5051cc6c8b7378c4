// Without `node:`, as webpack knows the class by that name, and then bundles the file of the worker, too.
import { MessageChannel, Worker } from 'worker_threads';
import type { Clock } from '../../core/clock.js';
import { LockOptionsError } from '../../core/errors/index.js';
import { NotShown } from '../../core/errors/shown-value.js';
import { reasonOf } from '../connection/redis-error.js';
import type { RedisLockOptions } from '../redis-options.js';
import { HoldMirror } from './hold-mirror.js';
import type { WorkerNews, WorkerStart } from './messages.js';
import { beatOf } from './sign-of-life.js';
import { threadTime } from './thread-clock.js';

/**
 * The thread that renews the locks of one client while the main thread shows no sign of life: see `StandbyRenewal`. It starts
 * when the client connects, so that a mistake shows then, and its connection is there before the first lock is. It does not keep
 * the process alive.
 *
 * Invariant: if it ends by itself, or cannot connect, locks are as without it, and there is one warning.
 */
export class RenewalWorker {
  readonly mirror: HoldMirror;
  #starting?: Promise<void>;
  #thread?: Worker;
  #hasStarted = false;
  #isClosed = false;
  #hasWarned = false;

  constructor(
    private readonly client: string,
    private readonly options: RedisLockOptions,
    private readonly clock: Clock,
  ) {
    this.mirror = new HoldMirror(clock, beatOf(options.watchdogTimeout ?? 30_000));
  }

  /** Resolves when the thread runs; rejects with `LockOptionsError` if its file cannot be run. */
  start(): Promise<void> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  /** Ends the thread and with it its connection. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.mirror.close();
    await this.#thread?.terminate();
  }

  async #start(): Promise<void> {
    if (this.#isClosed) return;
    const { port1, port2 } = new MessageChannel();
    try {
      const thread = this.#run(port2);
      this.#thread = thread;
      await new Promise<void>((resolve, reject) => {
        thread.on('message', (news: WorkerNews) => {
          if (news === 'ready') resolve();
          else this.#warn(news.trouble);
        });
        thread.on('error', (error) => {
          reject(error);
          this.#end(`has failed (${reasonOf(error)})`);
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
      return;
    }
    if (this.#isClosed) port1.close();
    else this.mirror.open(port1);
  }

  #run(port: WorkerStart['port']): Worker {
    const { connect, cluster, driver, watchdogTimeout, connectTimeout, replicas } = this.options;
    const start: WorkerStart = {
      client: this.client,
      options: { connect, cluster, driver, watchdogTimeout, connectTimeout, replicas },
      maxStall: this.options.renewalWorker!.maxStall,
      sign: this.mirror.sign.memory,
      time: threadTime(this.clock),
      port,
    };
    return new Worker(new URL('./renewal-thread.js', import.meta.url), {
      workerData: start,
      transferList: [port as never],
      name: 'nestjs-interlock',
    });
  }

  #notStarted(cause: unknown): LockOptionsError {
    return new LockOptionsError(
      'renewalWorker',
      new NotShown(`given, but the file of its thread could not be run (${reasonOf(cause)})`),
      'it only where the package is loaded from node_modules (leave `nestjs-interlock` external in your bundler), or leave it out',
      { client: this.client, cause },
    );
  }

  /** Before the thread has started, the failure is that of `start`. */
  #end(how: string): void {
    this.mirror.close();
    if (this.#hasStarted && !this.#isClosed) this.#warn(how);
  }

  #warn(how: string): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    process.emitWarning(
      `The thread that renews the locks of client "${this.client}" while the event loop is blocked ${how}. Locks are renewed by the main thread alone, as without \`renewalWorker\`. Find the reason, and restart the process.`,
    );
  }
}
