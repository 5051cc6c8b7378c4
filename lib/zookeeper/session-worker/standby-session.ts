import type { Clock, Timer } from '../../core/clock.js';
import { beatOf, type SignOfLife } from '../../core/worker/sign-of-life.js';
import type { Servers } from '../connection/server-list.js';
import { SessionConnection } from '../connection/session-connection.js';
import type { SessionCredentials, Transport, TransportLink } from '../connection/transport.js';
import type { AuthInfo } from '../connection/zookeeper-connection.js';
import type { SessionMessage, SessionProof } from './messages.js';

/** For how long the main thread shows no sign of life before its session is taken over, in ms. */
export const takesOverAfter = (timeout: number): number => timeout / 3;

/** Parts of a {@link StandbySession}. Times are in ms, by the clock of the main thread. */
export interface StandbySessionSettings {
  readonly clock: Clock;
  readonly sign: SignOfLife;
  readonly maxStall: number;
  readonly transport: Transport;
  readonly servers: Servers;
  readonly tickTime?: number | undefined;
  readonly auth?: readonly AuthInfo[] | undefined;
  /** Receives what the leader is known to have learned. */
  readonly confirm: (proof: SessionProof) => void;
  /** Called when the session is lost in a stall, or at its end, because it could not connect. */
  readonly failed: (reason: string) => void;
}

/**
 * Keeps the session of the main thread alive while that shows no sign of life, from a thread of its own: it attaches to the session,
 * as a client does after a lost connection. The servers then close the connection of the main thread, which attaches again when it
 * lives on.
 *
 * It takes over when the last sign is a third of the timeout old, as the main thread asks for a sign of the leader every sixth: so
 * about half of the timeout is left. It stands by again when the main thread is connected: one that is busy needs several turns of its
 * event loop for that, during which nothing else would keep the session.
 *
 * Invariants:
 * - It attaches only while the main thread shows no sign of life. So when that, alive again, attaches in turn, and the servers cut off
 *   the worker, the worker leaves it at that: the two do not fight for the session.
 * - It never ends the session, nor opens one: its links are only ever dropped.
 * - When the last sign is older than `maxStall` it has no link: so a process that hangs keeps its locks for no longer than
 *   `maxStall` and a timeout. Nor does it keep one for longer where the main thread lives, but does not get through to the servers.
 * - It reports what a `Session` of its own has concluded from answers on its own link.
 */
export class StandbySession {
  #session?: SessionCredentials | undefined;
  #connection?: SessionConnection | undefined;
  /** The last sign before it took over. */
  #signedAt = -Infinity;
  #reported = -Infinity;
  /** Why it could not connect, until it does, or the session turns out to have survived. */
  #failure?: string | undefined;
  #looking?: Timer | undefined;

  constructor(private readonly settings: StandbySessionSettings) {}

  /** The session that the main thread has from now on; it lives. */
  receive(session: SessionMessage): void {
    const isAnother = session?.id !== this.#session?.id;
    if (isAnother) this.#lost(); // the main thread may have trusted the old one for less time
    if (isAnother || session?.isConnected) this.#standBy();
    this.#session = session ?? undefined;
    this.#looking?.cancel();
    this.#lookLater();
  }

  /** For how long there was no sign of life. */
  get #silence(): number {
    return this.settings.clock.now() - this.settings.sign.at;
  }

  #lookLater(): void {
    const { clock } = this.settings;
    const session = this.#session;
    if (session === undefined) return;
    const look = () => {
      this.#look(session);
      this.#lookLater();
    };
    this.#looking = clock.setTimer(look, beatOf(session.timeout), true);
  }

  #look(session: SessionCredentials): void {
    this.#report(session);
    const hasTakenOver = this.#connection !== undefined;
    if (this.#isWanted(session)) {
      if (!hasTakenOver) this.#takeOver(session);
    } else if (!hasTakenOver) {
      this.#failure = undefined; // a beat after the stall, a loss in it would be known
    } else if (!this.#isKeeping) this.#standBy();
  }

  /** Whether the session depends on its link, as the main thread was cut off, and may do so still. */
  get #isKeeping(): boolean {
    const { clock, maxStall } = this.settings;
    return this.#connection!.isConnected && clock.now() - this.#signedAt <= maxStall;
  }

  #isWanted({ timeout }: SessionCredentials): boolean {
    return this.#silence >= takesOverAfter(timeout) && this.#silence <= this.settings.maxStall;
  }

  #takeOver(session: SessionCredentials): void {
    const { transport, servers, tickTime, auth, clock, sign } = this.settings;
    const next = async (within?: number) => {
      if (this.#isWanted(session)) return await servers.next(within);
      throw new Error('the main thread lives again, or for too long has not');
    };
    const signedAt = sign.at; // read once: a sign that the main thread gives meanwhile is no proof
    const connection = new SessionConnection({
      ...{ clock, tickTime, auth, sessionTimeout: session.timeout },
      transport: leaving(transport),
      servers: { size: servers.size, next },
      onAttemptFailed: (reason) => {
        if (this.#isWanted(session)) this.#failure = reason;
      },
    });
    this.#connection = connection;
    this.#signedAt = this.#reported = signedAt; // no proof: it only bounds the attempts
    connection.onStateChange((state) => {
      if (connection.isConnected) this.#failure = undefined;
      if (state !== 'LOST') return;
      void connection.close(); // or it would open another session
      this.#lost();
    });
    connection.takeOver(session, signedAt);
  }

  #report({ id }: SessionCredentials): void {
    const { timeout, confirmedAt: sentAt = -Infinity } = this.#connection?.session ?? {};
    if (timeout === undefined || sentAt <= this.#reported) return;
    this.#reported = sentAt;
    this.settings.confirm({ id, timeout, sentAt });
  }

  #standBy(): void {
    void this.#connection?.close();
    this.#connection = undefined;
  }

  #lost(): void {
    if (this.#failure !== undefined) this.settings.failed(this.#failure);
    this.#failure = undefined;
  }
}

/** That transport with links that do not end the session when they are closed. */
function leaving(transport: Transport): Transport {
  return {
    open(options, listener) {
      const link = transport.open(options, listener);
      const leave = () => link.detach(undefined); // without the session: at its end, a transport may close what is left of it
      const request: TransportLink['request'] = (...args) => link.request(...args);
      return { request, detach: leave, close: leave };
    },
    close: async () => {},
  };
}
