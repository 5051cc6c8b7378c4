import type { Clock } from '../../core/clock.js';
import { LockOptionsError } from '../../core/errors/index.js';
import { NotShown } from '../../core/errors/shown-value.js';
import { beatOf } from '../../core/worker/sign-of-life.js';
import { StandbyThread } from '../../core/worker/standby-thread.js';
import { threadTime } from '../../core/worker/thread-clock.js';
import { validateRenewalWorker } from '../../core/worker/validate-renewal-worker.js';
import { reasonOf } from '../connection/redis-error.js';
import type { RedisLockOptions } from '../redis-options.js';
import { HoldMirror } from './hold-mirror.js';
import type { WorkerStart } from './messages.js';

/** Throws `LockOptionsError` if the option `renewalWorker` is not valid, or does not go with the others. */
export function validateWorkerOptions(options: RedisLockOptions, client: string): void {
  const { renewalWorker, connect, cluster, nodes, watchdogTimeout = 30_000 } = options;
  if (renewalWorker !== undefined && connect === undefined && cluster === undefined)
    throw new LockOptionsError(
      'renewalWorker',
      new NotShown(`given with \`${nodes ? 'nodes' : 'client'}\``),
      'it with `connect` or `cluster`: its thread has to make a connection of its own from these options',
      { client },
    );
  validateRenewalWorker(renewalWorker, {
    client,
    lasting: ['watchdogTimeout', watchdogTimeout],
    copied: { connect, cluster },
  });
}

/** Apart from the call, or webpack would take the file into the bundle, and the whole package with it once more. */
const HERE = import.meta.url;
const THREAD = './renewal-thread.js';

/**
 * The thread that renews the locks of one client while the main thread shows no sign of life: see `StandbyRenewal`. It starts
 * when the client connects, so that a mistake shows then, and its connection is there before the first lock is.
 */
export class RenewalWorker {
  readonly mirror: HoldMirror;
  readonly #thread: StandbyThread;

  constructor(
    private readonly client: string,
    private readonly options: RedisLockOptions,
    private readonly clock: Clock,
  ) {
    this.mirror = new HoldMirror(clock, beatOf(options.watchdogTimeout ?? 30_000));
    this.#thread = new StandbyThread({
      client,
      file: new URL(THREAD, HERE),
      ended: () => this.mirror.close(),
      reasonOf,
    });
  }

  /** Resolves when the thread is connected, or has reported that it could not be; rejects with `LockOptionsError` if its file cannot be run. */
  async start(): Promise<void> {
    const { connect, cluster, driver, watchdogTimeout, connectTimeout, replicas } = this.options;
    const port = await this.#thread.start((other): WorkerStart => ({
      client: this.client,
      options: { connect, cluster, driver, watchdogTimeout, connectTimeout, replicas },
      maxStall: this.options.renewalWorker!.maxStall,
      sign: this.mirror.sign.memory,
      time: threadTime(this.clock),
      port: other,
    }));
    if (port) this.mirror.open(port);
  }

  /** Ends the thread and with it its connection. */
  async close(): Promise<void> {
    this.mirror.close();
    await this.#thread.close();
  }
}
