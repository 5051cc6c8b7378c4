import { createHash, randomBytes } from 'node:crypto';
import type { Clock, Timer } from '../core/clock.js';
import type { LinkListener, SessionCredentials } from '../zookeeper/connection/transport.js';
import type { AuthInfo } from '../zookeeper/connection/zookeeper-connection.js';

/** A session as kept by the server. */
export interface ServerSession extends SessionCredentials {
  timeout: number;
  /** Time at which the session expires unless it is touched. */
  expiresAt: number;
  /** Listener of the link that the session is attached to. */
  listener?: LinkListener;
  timer?: Timer;
}

/** Authenticated identity of a caller. */
export interface Identity {
  readonly scheme: string;
  readonly id: string;
}

/**
 * The sessions of a server and their expiry.
 *
 * As in ZooKeeper, expiry is checked once per tick: a session lives for its timeout after its last touch, and on to the
 * next tick. Without ticks, sessions do not expire.
 */
export class SessionTable {
  readonly #sessions = new Map<string, ServerSession>();
  #lastId = 0;

  /**
   * @param tickTime length of a tick in milliseconds
   * @param enter runs the work that a timer triggers: now, or when the server can
   */
  constructor(
    private readonly clock: Clock,
    private readonly tickTime: number | undefined,
    private readonly enter: (work: () => void) => void,
    private readonly onExpired: (session: ServerSession) => void,
  ) {}

  /** Opens a new session. */
  open(): ServerSession {
    const session: ServerSession = {
      id: (++this.#lastId).toString(16),
      password: randomBytes(16).toString('hex'),
      timeout: Infinity,
      expiresAt: Infinity,
    };
    this.#sessions.set(session.id, session);
    return session;
  }

  /** The session with that id and password, if there is one. */
  find({ id, password }: SessionCredentials): ServerSession | undefined {
    const session = this.#sessions.get(id);
    return session?.password === password ? session : undefined;
  }

  get(id: string): ServerSession | undefined {
    return this.#sessions.get(id);
  }

  /** Grants a session the requested timeout, bounded to 2 to 20 ticks as in ZooKeeper. */
  negotiate(session: ServerSession, asked: number): void {
    if (this.tickTime === undefined) return;
    session.timeout = Math.min(Math.max(asked, 2 * this.tickTime), 20 * this.tickTime);
    session.expiresAt = Infinity;
    this.touch(session);
  }

  /** Restarts the timeout of a session, because the server has heard of it. */
  touch(session: ServerSession, timeout = session.timeout): void {
    if (this.tickTime === undefined) return;
    const end = this.clock.now() + timeout;
    const before = session.expiresAt;
    session.expiresAt = (Math.floor(end / this.tickTime) + 1) * this.tickTime;
    if (session.expiresAt < before) this.#arm(session);
  }

  /** Restarts the timeouts of all sessions. */
  touchAll(): void {
    for (const session of this.#sessions.values()) this.touch(session);
  }

  /** Extends all sessions by `ms` milliseconds. */
  postpone(ms: number): void {
    for (const session of this.#sessions.values()) session.expiresAt += ms;
  }

  delete(session: ServerSession): void {
    session.timer?.cancel();
    this.#sessions.delete(session.id);
  }

  #arm(session: ServerSession): void {
    session.timer?.cancel();
    const rest = Math.max(0, session.expiresAt - this.clock.now());
    session.timer = this.clock.setTimer(() => this.enter(() => this.#review(session)), rest, true);
  }

  #review(session: ServerSession): void {
    if (!this.#sessions.has(session.id)) return;
    if (session.expiresAt <= this.clock.now()) this.onExpired(session);
    else this.#arm(session); // it was touched since
  }
}

/** Identity proven by `{ scheme: 'digest', auth: 'user:password' }`, as `user:hash` in ZooKeeper's ACLs. */
export function digestIdentity({ scheme, auth }: AuthInfo): Identity {
  const [user] = auth.split(':', 1);
  const hash = createHash('sha1').update(auth).digest('base64');
  return { scheme, id: `${user}:${hash}` };
}
