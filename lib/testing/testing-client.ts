import type { Clock } from '../core/clock.js';
import type { ErrorPolicy } from '../core/election/election-backend.js';
import { LeaseHandle, runWithLease } from '../core/internal/lease-handle.js';
import { LockEventEmitter } from '../core/internal/lock-event-emitter.js';
import type { Lease } from '../core/lease.js';
import type { LockClient } from '../core/lock-client.js';
import type { AcquireOptions, Lock } from '../core/lock.js';
import {
  type EmbeddedLockOptions,
  validateEmbeddedOptions,
} from '../embedded/create-embedded-lock-client.js';
import { EmbeddedServer } from '../embedded/embedded-server.js';
import { EmbeddedLink } from '../embedded/embedded-transport.js';
import { validateLease, validateMaxHold } from '../redis/locks/redis-lease.js';
import { SessionConnection } from '../zookeeper/connection/session-connection.js';
import { ZooKeeperLockClient } from '../zookeeper/zookeeper-lock-client.js';
import { type ControlledClient, locksToLose } from './controlled-client.js';
import type { TestingClock } from './testing-clock.js';

/** Acquire options with the additional options of Redis locks. */
interface LeaseOptions extends AcquireOptions {
  readonly lease?: number;
  readonly maxHold?: number;
}

/**
 * `lock` with the options `lease` and `maxHold` of Redis: it is lost when that time is over.
 *
 * @param bound to acquire with those options
 */
function leasedLock<L extends Lock>(lock: L, clock: Clock, client: string, bound = lock): L {
  const about = { key: lock.key, client };
  const validate = ({ lease, maxHold }: LeaseOptions) => {
    if (lease !== undefined) validateLease('lease', lease, about);
    validateMaxHold(maxHold, about);
  };
  const bounded = <T extends Lease | undefined>(held: T, { lease, maxHold }: LeaseOptions): T => {
    if (!(held instanceof LeaseHandle)) return held;
    const { hold } = held;
    const endAfter = (ms: number | undefined, why: string) =>
      ms !== undefined && clock.setTimer(() => void (hold.isLive && hold.revoke(why)), ms);
    endAfter(lease, `its lease of ${lease} ms is over`);
    endAfter(maxHold, `it was held for longer than its maxHold of ${maxHold} ms`);
    return held;
  };
  const lockFor = ({ lease, maxHold }: LeaseOptions) =>
    lease === undefined && maxHold === undefined ? lock : bound;
  const acquire = async ({ lease, maxHold, ...options }: LeaseOptions = {}) => {
    validate({ lease, maxHold });
    const asked = lockFor({ lease, maxHold });
    return bounded(await asked.acquire(options), { lease, maxHold });
  };
  const tryAcquire = async ({ lease, maxHold, ...options }: LeaseOptions = {}) => {
    validate({ lease, maxHold });
    const asked = lockFor({ lease, maxHold });
    return bounded(await asked.tryAcquire(options), { lease, maxHold });
  };
  const using: Lock['using'] = async (fn, options) => await runWithLease(acquire(options), fn);
  return overrideMembers(lock, { acquire, tryAcquire, using } as Partial<L>);
}

/** Options that a client in virtual time adopts from the client that it replaces. All others have no effect. */
export interface LockTestingOptions extends EmbeddedLockOptions {
  /** With `'redis'`, locks accept a `lease` and a `maxHold`, which end in virtual time. */
  readonly backend?: 'embedded' | 'zookeeper' | 'redis' | undefined;
  /** As on ZooKeeper: with `'standard'`, `suspend()` ends the held leases. */
  readonly errorPolicy?: ErrorPolicy | undefined;
  /**
   * Time in milliseconds that a session survives a lost connection. As on a ZooKeeper server with default settings, it is
   * raised to at least 4,000 and lowered to at most 40,000.
   *
   * @default 30000
   */
  readonly sessionTimeout?: number | undefined;
}

/** Tick of a ZooKeeper server, in ms: session timeouts are 2 to 20 ticks. */
const TICK_TIME = 2_000;

/** A client in virtual time with a server of its own. */
export class TestingClient implements ControlledClient {
  readonly locks: LockClient;
  readonly #server: EmbeddedServer;
  readonly #connection: SessionConnection;
  #isSuspended = false;

  constructor(
    name: string,
    options: LockTestingOptions,
    private readonly clock: TestingClock,
  ) {
    const { wait = 'forever', basePath = '/locks', literalPaths = false } = options;
    const { sessionTimeout = 30_000, errorPolicy } = options;
    const { maxWaiters, maxWaitersPerKey, onDeadlock, handOff } = options;
    const limits = { maxWaiters, maxWaitersPerKey, onDeadlock, handOff };
    validateEmbeddedOptions({ wait, basePath, literalPaths, ...limits }, name);
    const server = (this.#server = new EmbeddedServer({ clock, tickTime: TICK_TIME }));
    const outbox = { push: (message: () => void) => void clock.setTimer(message, 0) };
    const connection = (this.#connection = new SessionConnection({
      transport: {
        open: (link, listener) => new EmbeddedLink(server, outbox, link, listener),
        close: async () => {},
      },
      // An endless list, so that the next attempt to connect follows at once.
      servers: { size: Infinity, next: async () => ({ host: 'testing', port: 0 }) },
      sessionTimeout,
      tickTime: TICK_TIME,
      clock,
    }));
    const locks = new ZooKeeperLockClient({
      name,
      connection,
      events: new LockEventEmitter(name),
      clock,
      basePath,
      literalPaths,
      errorPolicy,
      connectTimeout: 15_000,
      wait,
      retryPolicy: { nextDelay: () => 0 }, // each attempt waits for the connection first
      nodeData: Buffer.alloc(0),
      watchAfter: 0,
      ...limits,
    });
    this.locks = options.backend === 'redis' ? leasedClient(locks, clock) : locks;
  }

  get isClosed(): boolean {
    return this.#connection.state === 'CLOSED';
  }

  /** Deletes the nodes of all holders of that key. */
  async loseLease(key: string): Promise<void> {
    await this.clock.advance(0);
    const lost = locksToLose(this.locks, key, this.#isSuspended);
    const nodes = lost.flatMap(({ holders }) => holders);
    for (const node of nodes) this.#server.remove(node);
    await this.clock.advance(0);
  }

  async suspend(): Promise<void> {
    const { sessionId } = this.locks.status();
    this.#isSuspended = true;
    this.#server.freeze();
    if (sessionId !== undefined) this.#server.cut(sessionId);
    await this.clock.advance(0);
  }

  async resume(): Promise<void> {
    this.#isSuspended = false;
    this.#server.thaw();
    await this.clock.advance(0);
  }

  async expire(): Promise<void> {
    const { sessionId } = this.locks.status();
    if (sessionId !== undefined) this.#server.expire(sessionId);
    await this.resume();
  }
}

/** What clients on Redis have, and this one has not: TypeScript does not know that it is not the client of the app. */
const OF_REDIS_ONLY = ['countDownLatch', 'plainSemaphore', 'spinLock'];

/** `client` with the options `lease` and `maxHold` of Redis for all of its locks. */
function leasedClient(client: LockClient, clock: Clock): LockClient {
  const { name } = client;
  const refuse = (method: string) => (): never => {
    throw new Error(
      `\`${method}\` of Redis is not in LockTestingModule. Import RedisLockTestingModule in its place.`,
    );
  };
  const missing: object = Object.fromEntries(OF_REDIS_ONLY.map((it) => [it, refuse(it)]));
  return overrideMembers(client, {
    ...missing,
    validateLease: (lease, maxHold) => {
      if (lease !== undefined) validateLease('lease', lease, { client: name });
      validateMaxHold(maxHold, { client: name });
    },
    mutex: (key, options) => leasedLock(client.mutex(key, options), clock, name),
    semaphoreMutex: (key) => leasedLock(client.semaphoreMutex(key), clock, name),
    semaphore: (key, options) => leasedLock(client.semaphore(key, options), clock, name),
    readWriteLock: (key, options) => {
      const lock = client.readWriteLock(key, options);
      const alone = client.readWriteLock(key, { handOff: false }).readLock();
      return {
        key,
        readLock: () => leasedLock(lock.readLock(), clock, name, alone),
        writeLock: () => leasedLock(lock.writeLock(), clock, name),
      };
    },
  });
}

/** `original` with some of its members replaced; all others are called on `original` itself. */
export function overrideMembers<T extends object>(original: T, replaced: Partial<T>): T {
  return new Proxy(original, {
    get(target, name): unknown {
      if (Object.hasOwn(replaced, name)) return Reflect.get(replaced, name);
      const member: unknown = Reflect.get(target, name, target);
      return member instanceof Function ? (member.bind(target) as unknown) : member;
    },
  });
}
