import type { Clock, Timer } from '../../core/clock.js';
import { LeaseScope } from '../../core/internal/lease-scope.js';
import { beatOf, SignOfLife } from '../../core/worker/sign-of-life.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';
import type { SessionMessage, SessionProof } from './messages.js';
import { takesOverAfter } from './standby-session.js';

/** The main thread's end of the channel to the worker. */
export interface WorkerPort {
  send(message: SessionMessage): void;
  /** The next proof that has arrived; `undefined` if there is none now. */
  next(): SessionProof | undefined;
  close(): void;
}

/**
 * Keeps the worker thread informed of the session of a connection, with signs of life, and takes over what the worker has proved.
 *
 * Invariant: when the worker may have attached since the last sign, its proofs are read before the session is said to be alive: they
 * may prolong it, or shorten it where a server has granted the worker less.
 */
export class SessionMirror {
  readonly sign = new SignOfLife();
  #connection?: ZooKeeperConnection;
  #port?: WorkerPort | undefined;
  #beating?: Timer | undefined;

  constructor(private readonly clock: Clock) {}

  /** From now on the worker at the other end of the port keeps the sessions of that connection. */
  open(port: WorkerPort, connection: ZooKeeperConnection): void {
    if (this.#connection !== undefined) return;
    this.#port = port;
    this.#connection = connection;
    connection.onStateChange(() => this.#share());
    this.#share();
    LeaseScope.runOutside(() => this.#beat());
  }

  /** To be called before it is asked whether the session is alive. */
  catchUp(): void {
    const timeout = this.#connection?.session?.timeout ?? Infinity;
    if (this.clock.now() - this.sign.at >= takesOverAfter(timeout)) this.#read();
  }

  close(): void {
    this.#read();
    this.#beating?.cancel();
    this.#port?.close();
    this.#port = undefined;
  }

  #read(): void {
    for (let proof = this.#port?.next(); proof; proof = this.#port?.next()) {
      const session = this.#connection?.session;
      if (session?.id === proof.id) session.confirmed(proof.timeout, proof.sentAt);
    }
  }

  #share(): void {
    if (this.#port === undefined) return;
    this.#showSign();
    const { session, isConnected } = this.#connection!;
    if (session === undefined) return this.#port.send(null);
    const { id, password, timeout } = session;
    this.#port.send({ id, password, timeout, isConnected });
  }

  #beat(): void {
    if (this.#port === undefined) return;
    this.#showSign();
    const timeout = this.#connection!.session?.timeout ?? Infinity;
    this.#beating = this.clock.setTimer(() => this.#beat(), beatOf(timeout), true);
  }

  #showSign(): void {
    this.#read(); // first: `catchUp` does not ask after a sign
    this.sign.give(this.clock);
  }
}
