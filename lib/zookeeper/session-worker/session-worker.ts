import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { Clock } from '../../core/clock.js';
import { StandbyThread } from '../../core/worker/standby-thread.js';
import { threadTime } from '../../core/worker/thread-clock.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';
import type { SessionProof, SessionWorkerStart, WorkerConnectionOptions } from './messages.js';
import { SessionMirror, type WorkerPort } from './session-mirror.js';

/** Apart from the call, or webpack would take the file into the bundle, and the whole package with it once more. */
const HERE = import.meta.url;
const THREAD = './session-thread.js';

/**
 * The thread that keeps the session of one client alive while the main thread shows no sign of life: see `StandbySession`. It starts
 * when the client connects, so that a mistake shows then. Its link is that of the driver `wire`, whichever the client has.
 */
export class SessionWorker {
  readonly #mirror: SessionMirror;
  readonly #thread: StandbyThread;

  constructor(
    private readonly client: string,
    private readonly options: WorkerConnectionOptions,
    private readonly maxStall: number,
    private readonly clock: Clock,
  ) {
    this.#mirror = new SessionMirror(clock);
    this.#thread = new StandbyThread({
      client,
      file: new URL(THREAD, HERE),
      ended: () => this.#mirror.close(),
      reasonOf: String,
    });
  }

  /** Keeps the sessions of that connection from now on; rejects with `LockOptionsError` if the thread cannot be started. */
  async start(connection: ZooKeeperConnection): Promise<void> {
    const { connect, tickTime, auth, tls, sasl } = this.options;
    const port = await this.#thread.start((other): SessionWorkerStart => ({
      client: this.client,
      options: { connect, tickTime, auth, tls, sasl },
      maxStall: this.maxStall,
      sign: this.#mirror.sign.memory,
      time: threadTime(this.clock),
      port: other,
    }));
    if (port) this.#mirror.open(workerPort(port), connection);
  }

  /** See `SessionMirror`. */
  catchUp(): void {
    this.#mirror.catchUp();
  }

  /** Ends the thread, and with it its connection. */
  async close(): Promise<void> {
    this.#mirror.close();
    await this.#thread.close();
  }
}

function workerPort(port: MessagePort): WorkerPort {
  return {
    send: (message) => port.postMessage(message),
    next() {
      const received: { readonly message: SessionProof } | undefined = receiveMessageOnPort(port);
      return received?.message;
    },
    close: () => port.close(),
  };
}
