import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { Clock, Timer } from '../../core/clock.js';
import { LeaseScope } from '../../core/internal/lease-scope.js';
import { beatOf, SignOfLife } from '../../core/worker/sign-of-life.js';
import { StandbyThread } from '../../core/worker/standby-thread.js';
import { threadTime } from '../../core/worker/thread-clock.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';
import type {
  SessionMessage,
  SessionProof,
  SessionWorkerStart,
  WorkerConnectionOptions,
} from './messages.js';

/** Apart from the call, or webpack would take the file into the bundle, and the whole package with it once more. */
const HERE = import.meta.url;
const THREAD = './session-thread.js';

/**
 * The thread that keeps the session of one client alive while the main thread shows no sign of life: see `StandbySession`. It starts
 * when the client connects, so that a mistake shows then. Its link is that of the driver `wire`, whichever the client has.
 */
export class SessionWorker {
  readonly #sign = new SignOfLife();
  readonly #thread: StandbyThread;
  #connection?: ZooKeeperConnection;
  #port?: MessagePort | undefined;
  #beating?: Timer | undefined;

  constructor(
    private readonly client: string,
    private readonly options: WorkerConnectionOptions,
    private readonly maxStall: number,
    private readonly clock: Clock,
  ) {
    this.#thread = new StandbyThread({
      client,
      file: new URL(THREAD, HERE),
      ended: () => this.#leave(),
      reasonOf: String,
    });
  }

  /** Keeps the sessions of that connection from now on; rejects with `LockOptionsError` if the file of the thread cannot be run. */
  async start(connection: ZooKeeperConnection): Promise<void> {
    const { connect, tickTime, auth, tls, sasl } = this.options;
    this.#port = await this.#thread.start((port): SessionWorkerStart => ({
      client: this.client,
      options: { connect, tickTime, auth, tls, sasl },
      maxStall: this.maxStall,
      sign: this.#sign.memory,
      time: threadTime(this.clock),
      port,
    }));
    if (this.#connection) return;
    this.#connection = connection;
    connection.onStateChange(() => this.#post());
    this.#post();
    LeaseScope.runOutside(() => this.#beat());
  }

  /** Takes over what the worker has proved of the session. To be called before that counts as ended. */
  catchUp(): void {
    if (this.#port === undefined) return;
    for (
      let next = receiveMessageOnPort(this.#port);
      next;
      next = receiveMessageOnPort(this.#port)
    ) {
      const { id, timeout, sentAt } = (next as { readonly message: SessionProof }).message;
      const session = this.#connection?.session;
      if (session?.id === id) session.confirmed(timeout, sentAt);
    }
  }

  /** Ends the thread, and with it its connection. */
  async close(): Promise<void> {
    this.#leave();
    await this.#thread.close();
  }

  /** Each message is a sign of life, too. */
  #post(): void {
    this.#sign.give(this.clock);
    const { session } = this.#connection!;
    const copy = session && {
      id: session.id,
      password: session.password,
      timeout: session.timeout,
    };
    this.#port?.postMessage((copy ?? null) satisfies SessionMessage);
  }

  #beat(): void {
    if (this.#port === undefined) return;
    this.#sign.give(this.clock);
    this.catchUp();
    const timeout = this.#connection!.session?.timeout ?? Infinity;
    this.#beating = this.clock.setTimer(() => this.#beat(), beatOf(timeout), true);
  }

  #leave(): void {
    this.catchUp();
    this.#beating?.cancel();
    this.#port?.close();
    this.#port = undefined;
  }
}
