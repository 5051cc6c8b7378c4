import type { Wait } from '../core/acquire-options.js';
import { activityOf } from '../core/activity-of.js';
import { Bag } from '../core/bag.js';
import type { Clock } from '../core/clock.js';
import {
  LockClientClosedError,
  LockConnectionError,
  LockTimeoutError,
} from '../core/errors/index.js';
import { giveEverythingBack } from '../core/give-everything-back.js';
import type { Lock } from '../core/lock.js';
import type { LockActivity } from '../core/lock-activity.js';
import type { LockClient } from '../core/lock-client.js';
import type { LockClientStatus } from '../core/lock-client-status.js';
import { type LockEventEmitter } from '../core/lock-event-emitter.js';
import type { LockEvents } from '../core/lock-events.js';
import { LOCK_SURVEY, type LockSurvey } from '../core/lock-survey.js';
import { MultiLock } from '../core/multi-lock.js';
import { refuseLease } from '../core/refuse-lease.js';
import { roundTrip } from '../core/round-trip.js';
import { statusOf } from '../core/status-of.js';
import { validatePermits } from '../core/validate-permits.js';
import { WaitScope } from '../core/wait-scope.js';
import { within } from '../core/within.js';
import type { AclEntry } from './connection/acl.js';
import type { RetryPolicy } from './connection/retry/retry-policy.js';
import type { ZooKeeperConnection } from './connection/zookeeper-connection.js';
import { ZooKeeperSurvey } from './inspection/zookeeper-survey.js';
import { localAddress } from './local-address.js';
import { lockPath } from './lock-path.js';
import { attemptRevoke } from './recipes/attempt-revoke.js';
import { GuaranteedDelete } from './recipes/guaranteed-delete.js';
import { InterProcessMutex } from './recipes/inter-process-mutex.js';
import { InterProcessReadWriteLock } from './recipes/inter-process-read-write-lock.js';
import { InterProcessSemaphoreMutex } from './recipes/inter-process-semaphore-mutex.js';
import { InterProcessSemaphoreV2 } from './recipes/inter-process-semaphore-v2.js';
import { PathKinds } from './recipes/path-kinds.js';
import { LockParents } from './recipes/lock-parents.js';
import type { LockSettings } from './recipes/lock-settings.js';
import { LongHolds } from './recipes/long-holds.js';
import { nodeData, type NodeOptions } from './recipes/node-data.js';
import type { RecipeContext } from './recipes/recipe-context.js';
import { ServedNodes } from './recipes/served-nodes.js';
import { SharedCount } from './recipes/shared-count.js';
import { SoleChildMemory } from './recipes/sole-child-memory.js';
import { untilConnected } from './recipes/until-connected.js';
import type { ZooKeeperSemaphoreOptions } from './zookeeper-semaphore-options.js';

/** What a client is made of. Times in milliseconds. */
export interface ZooKeeperLockClientSettings {
  readonly name: string;
  readonly connection: ZooKeeperConnection;
  readonly events: LockEventEmitter;
  readonly clock: Clock;
  /** Prefix of every path, without a slash at its end; made with the parents of a lock where it is missing. Default: none. */
  readonly chroot?: string;
  readonly basePath: string;
  readonly connectTimeout: number;
  readonly wait: Wait;
  readonly retryPolicy: RetryPolicy;
  readonly acl?: readonly AclEntry[];
  /** Data of lock nodes that are given none. Default: the address of this host, asked for when it connects. */
  readonly nodeData?: Buffer;
  /** After that time a holder that did not queue has its node watched. Default: 100. */
  readonly watchAfter?: number;
}

/** Locks on ZooKeeper, or on the embedded tree that behaves like it. */
export class ZooKeeperLockClient implements LockClient {
  readonly name: string;
  /** Refuses every lease, with `LockOptionsError`: here it is the session that ends. */
  readonly validateLease = (lease: number) => refuseLease(lease, this.name);
  /** @internal */
  readonly [LOCK_SURVEY]: LockSurvey;
  readonly #context: RecipeContext;
  readonly #kinds: PathKinds;
  #closing?: Promise<void>;

  constructor(private readonly settings: ZooKeeperLockClientSettings) {
    const { name, connection, events, clock, connectTimeout, wait, retryPolicy, acl } = settings;
    const { chroot = '', basePath, watchAfter = 100 } = settings;
    this.name = name;
    this.#kinds = new PathKinds(name);
    this.#context = {
      client: name,
      connection,
      clock,
      events,
      retryPolicy,
      wait,
      connectTimeout,
      parents: new LockParents(connection, acl),
      removals: new GuaranteedDelete(connection, (error) =>
        process.emitWarning(
          `Lock client "${name}" may not remove a lock node, so the lock stays taken: ${error.message}`,
        ),
      ),
      soleChildren: new SoleChildMemory(connection),
      servedNodes: new ServedNodes(),
      longHolds: new LongHolds(clock, watchAfter),
      nodeData: Buffer.alloc(0),
      admits: 'all',
      waits: new Bag(),
      holds: new Bag(),
    };
    this[LOCK_SURVEY] = new ZooKeeperSurvey(this.#context, chroot, basePath);
    connection.onStateChange((state, reason) => events.emit('connection', { state, reason }));
  }

  mutex(key: string, options: NodeOptions = {}): InterProcessMutex {
    const settings = this.#lock(key, options);
    this.#kinds.claim(settings.path, 'mutex', key);
    return new InterProcessMutex(this.#context, settings);
  }

  readWriteLock(key: string, options: NodeOptions = {}): InterProcessReadWriteLock {
    const settings = this.#lock(key, options);
    this.#kinds.claim(settings.path, 'read/write lock', key);
    return new InterProcessReadWriteLock(this.#context, settings);
  }

  semaphore(key: string, options: ZooKeeperSemaphoreOptions): InterProcessSemaphoreV2 {
    const permits = options?.permits;
    if (typeof permits !== 'object' || permits === null || !('onChange' in permits))
      validatePermits(permits, { key, client: this.name });
    const settings = this.#lock(key, options);
    this.#kinds.claimSemaphore(settings.path, 'semaphore', key, permits);
    return new InterProcessSemaphoreV2(this.#context, { ...settings, permits });
  }

  semaphoreMutex(key: string, options: NodeOptions = {}): InterProcessSemaphoreMutex {
    const settings = this.#lock(key, options);
    this.#kinds.claimSemaphore(settings.path, 'semaphore mutex', key, 1);
    return new InterProcessSemaphoreMutex(this.#context, settings);
  }

  multiLock(locks: readonly Lock[]): MultiLock {
    const { wait, clock } = this.#context;
    return new MultiLock(locks, { wait, clock });
  }

  /**
   * The number of that key; call `start()` next.
   *
   * @param seed a 32-bit whole number: what it begins with where there is none yet
   * @throws LockKeyError, LockOptionsError
   */
  sharedCount(key: string, seed: number): SharedCount {
    const settings = this.#lock(key, {});
    this.#kinds.claim(settings.path, 'shared count', key);
    return new SharedCount(this.#context, settings, seed);
  }

  /**
   * Asks whoever stands in a queue with the node `participant` for the lock, as Curator's `Revoker`: the listeners of its
   * lease are called (see `ZooKeeperLease.makeRevocable`). Resolves to false when there is no such node any more.
   *
   * Rejects with `LockKeyError` when it is not a path, with `LockConnectionError` when there is no answer within
   * `connectTimeout`, with `ZooKeeperError` when the servers refuse.
   *
   * @param participant from `participants()` of a lock
   */
  revoke(participant: string): Promise<boolean> {
    return attemptRevoke(this.#context, participant);
  }

  on<E extends keyof LockEvents>(event: E, listener: (event: LockEvents[E]) => void): () => void {
    return this.settings.events.on(event, listener);
  }

  status(): LockClientStatus {
    const { state, session } = this.settings.connection;
    return {
      ...statusOf(this.#closing ? 'CLOSED' : state, this.#context),
      sessionId: session?.isAlive ? session.id : undefined,
    };
  }

  activity(): LockActivity[] {
    return activityOf(this.#context);
  }

  async ping(timeout = 1_000): Promise<number> {
    const { name, connection, chroot } = this.settings;
    if (this.#closing) throw new LockClientClosedError({ client: name });
    return roundTrip(this.#context, timeout, () => connection.exists(chroot || '/'));
  }

  async connect(): Promise<void> {
    const { name, connection, clock, connectTimeout, nodeData } = this.settings;
    if (this.#context.admits !== 'all') throw new LockClientClosedError({ client: name });
    const wait = new WaitScope(
      { client: name, clock, open: this.#context.waits },
      { wait: connectTimeout },
    );
    let lastReason = 'no server has answered';
    const stop = this.on('connection', ({ reason }) => (lastReason = reason));
    try {
      connection.start();
      await untilConnected(connection, wait);
      this.#context.nodeData = nodeData ?? (await localAddress(clock));
    } catch (cause) {
      stop(); // the closing is not what it failed of
      await connection.close();
      if (!(cause instanceof LockTimeoutError)) throw cause;
      throw new LockConnectionError(
        `Lock client "${name}" could not connect within ${connectTimeout} ms (${lastReason}). Check \`connect\` and that the servers run, or raise \`connectTimeout\`.`,
        { client: name, cause },
      );
    } finally {
      stop();
      wait.end();
    }
  }

  refuse(): void {
    this.#admit('insiders');
  }

  close(timeout = 5_000): Promise<void> {
    this.#closing ??= this.#close(timeout);
    return this.#closing;
  }

  /** Ends the waits there are, and refuses who comes from now on. */
  #admit(whom: 'insiders' | 'nobody'): void {
    if (this.#context.admits !== 'nobody') this.#context.admits = whom;
    for (const wait of this.#context.waits) wait.close();
  }

  async #close(timeout: number): Promise<void> {
    const { connection, clock } = this.settings;
    const deadline = clock.now() + timeout;
    this.#admit('nobody');
    await within(timeout, clock, this.#giveEverythingBack());
    await within(Math.max(0, deadline - clock.now()), clock, connection.close());
  }

  async #giveEverythingBack(): Promise<void> {
    await giveEverythingBack(this.#context);
    await this.#context.removals.drained();
  }

  #lock(key: string, options: NodeOptions): LockSettings {
    const { chroot = '', basePath } = this.settings;
    const path = chroot + lockPath(basePath, key, this.name);
    return { key, path, data: nodeData(options, { key, client: this.name }) };
  }
}
