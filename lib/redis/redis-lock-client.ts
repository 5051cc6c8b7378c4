import { randomUUID } from 'node:crypto';
import type { Clock } from '../core/clock.js';
import {
  LockClientClosedError,
  LockConnectionError,
  LockError,
  LockKeyError,
  LockOptionsError,
  LockTimeoutError,
} from '../core/errors/index.js';
import type { Lock } from '../core/lock.js';
import type { LockClient } from '../core/lock-client.js';
import type { LockEventEmitter } from '../core/lock-event-emitter.js';
import type { LockEvents } from '../core/lock-events.js';
import { LockKinds } from '../core/lock-kinds.js';
import { MultiLock } from '../core/multi-lock.js';
import { validateLockKey } from '../core/validate-lock-key.js';
import { WaitScope } from '../core/wait-scope.js';
import { within } from '../core/within.js';
import { hashTag } from './connection/hash-tag.js';
import { LockName } from './connection/lock-name.js';
import type { RedisConnection } from './connection/redis-connection.js';
import { replyText } from './connection/redis-error.js';
import { Renewal } from './connection/renewal.js';
import { BaseLock } from './recipes/base-lock.js';
import { ContenderLines } from './recipes/contender-lines.js';
import { fairCommands } from './recipes/fair-commands.js';
import { GuaranteedRelease } from './recipes/guaranteed-release.js';
import type { RecipeContext } from './recipes/recipe-context.js';
import { RedisLock } from './recipes/redis-lock.js';
import { RedisReadWriteLock } from './recipes/redis-read-write-lock.js';
import { reentrantCommands } from './recipes/reentrant-commands.js';
import type { RedisLockOptions } from './redis-lock-options.js';
import type { RedisMutexOptions } from './redis-mutex-options.js';
import type { RedisReadWriteLockOptions } from './redis-read-write-lock-options.js';

/** What a client is made of. */
export interface RedisLockClientSettings {
  readonly name: string;
  readonly connection: RedisConnection;
  readonly events: LockEventEmitter;
  readonly clock: Clock;
  readonly options: RedisLockOptions;
}

/** Locks on Redis. */
export class RedisLockClient implements LockClient {
  readonly name: string;
  readonly #context: RecipeContext;
  readonly #kinds: LockKinds;
  /** Why the server has refused releases: the same for every lock, so it is told once. */
  readonly #refusals = new Set<string>();
  #closing?: Promise<void>;

  constructor(private readonly settings: RedisLockClientSettings) {
    const { name, connection, events, clock, options } = settings;
    const { wait = 'forever', connectTimeout = 15_000, replicas } = options;
    const { watchdogTimeout = 30_000, fairLockWaitTimeout = 300_000 } = options;
    const id = randomUUID();
    let holders = 0;
    const renewal = new Renewal(connection, clock);
    connection.onReady(() => renewal.renewAll());
    this.name = name;
    this.#kinds = new LockKinds(name);
    this.#context = {
      client: name,
      connection,
      clock,
      events,
      wait,
      connectTimeout,
      watchdogTimeout,
      fairLockWaitTimeout,
      replicas,
      renewal,
      releases: new GuaranteedRelease(connection, clock, (error) => this.#warn(replyText(error))),
      lines: new ContenderLines(),
      newHolder: () => `${id}:${++holders}`,
      admits: 'all',
      waits: new Set(),
      holds: new Set(),
    };
  }

  mutex(key: string, { fair = false, fenced = false }: RedisMutexOptions = {}): RedisLock {
    return this.#mutex(key, 'mutex', fair, fenced);
  }

  semaphoreMutex(key: string, { fair = false, fenced = false }: RedisMutexOptions = {}): RedisLock {
    return this.#mutex(key, 'semaphoreMutex', fair, fenced);
  }

  readWriteLock(
    key: string,
    { preferWriters = false }: RedisReadWriteLockOptions = {},
  ): RedisReadWriteLock {
    const name = this.#name(key);
    this.#kinds.claim(name.raw, 'read/write lock', key);
    return new RedisReadWriteLock(this.#context, name, key, preferWriters);
  }

  semaphore(key: string): never {
    throw new LockOptionsError(
      'backend',
      'redis',
      'another one for semaphores: they are on ZooKeeper and in the embedded backend',
      { key, client: this.name },
    );
  }

  multiLock(locks: readonly Lock[]): MultiLock {
    const { wait, clock } = this.#context;
    return new MultiLock(locks, { wait, clock });
  }

  on<E extends keyof LockEvents>(event: E, listener: (event: LockEvents[E]) => void): () => void {
    return this.settings.events.on(event, listener);
  }

  async connect(): Promise<void> {
    const { name, connection, clock } = this.settings;
    const { connectTimeout, waits, admits } = this.#context;
    if (admits !== 'all') throw new LockClientClosedError({ client: name });
    const wait = new WaitScope({ client: name, clock, open: waits }, { wait: connectTimeout });
    let lastReason = 'no server has answered';
    const stop = this.on('connection', ({ reason }) => (lastReason = reason));
    try {
      await connection.connect(wait, name);
    } catch (cause) {
      stop(); // the closing is not what it failed of
      connection.close();
      if (cause instanceof LockError && !(cause instanceof LockTimeoutError)) throw cause;
      const why = cause instanceof LockError ? lastReason : String(cause);
      throw new LockConnectionError(
        `Lock client "${name}" could not connect to Redis within ${connectTimeout} ms (${why}). Check \`connect\` and that the server runs, or raise \`connectTimeout\`.`,
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
    for (const wait of [...this.#context.waits]) wait.close();
  }

  async #close(timeout: number): Promise<void> {
    this.#admit('nobody');
    await within(timeout, this.settings.clock, this.#giveEverythingBack());
    this.#context.releases.close();
    this.settings.connection.close();
  }

  async #giveEverythingBack(): Promise<void> {
    const { waits, holds, releases } = this.#context;
    const revoked = [...holds].map((hold) => hold.revoke('the client was closed'));
    await Promise.all([...revoked, ...[...waits].map((wait) => wait.ended())]);
    await releases.drained();
  }

  #warn(refusal: string): void {
    if (this.#refusals.has(refusal)) return;
    this.#refusals.add(refusal);
    process.emitWarning(
      `Redis refused lock client "${this.name}" to release a lock, or to wake who waits for it; it may stay taken until its lease is over: ${refusal}. Check the permissions of the user, those on channels too.`,
    );
  }

  #mutex(key: string, recipe: 'mutex' | 'semaphoreMutex', fair: boolean, fenced: boolean) {
    const name = this.#name(key);
    const kind = `${fair ? 'fair ' : ''}${recipe === 'mutex' ? '' : 'semaphore '}mutex`;
    this.#kinds.claim(name.raw, kind, key);
    const commands = (fair ? fairCommands : reentrantCommands)(this.#context, name, fenced);
    const settings = { key, recipe, commands, tokenKey: name.token, isFenced: fenced };
    const base = new BaseLock(this.#context, settings);
    return new RedisLock(this.#context, name, base, recipe === 'mutex');
  }

  #name(key: string): LockName {
    validateLockKey(key, { client: this.name });
    const { prefix = '' } = this.settings.options;
    const name = new LockName(prefix + key);
    if (this.settings.connection.isCluster && hashTag(name.raw) !== hashTag(name.channel))
      throw new LockKeyError(
        key,
        'its braces would put the lock and what belongs to it in different slots of the cluster; leave them out, or make them a hash tag such as {order}:1',
        { client: this.name },
      );
    return name;
  }
}
