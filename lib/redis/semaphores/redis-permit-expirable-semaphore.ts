import {
  type LockErrorContext,
  LockNotHeldError,
  LockOptionsError,
} from '../../core/errors/index.js';
import { runWithLease } from '../../core/internal/lease-handle.js';
import { validatePermits } from '../../core/internal/validation.js';
import type { Lease } from '../../core/lease.js';
import type { CountingSemaphore, LockIdentity, PermitOptions } from '../../core/lock.js';
import type { RedisArgument } from '../connection/ioredis.js';
import type { LockName } from '../connection/lock-name.js';
import type { Script } from '../connection/script.js';
import type { BaseLock } from '../locks/base-lock.js';
import { waitersOf } from '../locks/lock-commands.js';
import { IdempotentRequests } from '../locks/idempotent-requests.js';
import { newPermitHolder, validatePermitsAtOnce } from './permit-holder.js';
import { type RedisAcquireOptions, type RedisLease, validateLease } from '../locks/redis-lease.js';
import type { RecipeContext } from '../recipe-context.js';
import { permitCount, permitLease, permitResize, permitSetLease } from '../scripts/index.js';
import { releasePermitIds } from './permit-commands.js';

/** Options of an acquire on a semaphore on Redis. */
export interface RedisPermitOptions extends RedisAcquireOptions, PermitOptions {
  /**
   * Number of permits to acquire, all or none: a whole number from 1 to what the semaphore has, and to 10,000. The server
   * stores each permit separately; if a permit stands for something small, such as a byte or a row, let it stand for many.
   *
   * @default 1
   */
  readonly permits?: number | undefined;
}

/**
 * A semaphore on Redis, wire-compatible with Redisson's `RPermitExpirableSemaphore`: each permit has an id and a lease, which
 * is renewed for as long as it is held; so the permits of a crashed process become available again.
 *
 * Not reentrant: a nested acquire acquires further permits.
 */
export class RedisPermitExpirableSemaphore implements CountingSemaphore {
  readonly #requests: IdempotentRequests;

  /** @param most intended number of permits, the maximum of an acquire; if `undefined`, the number on the server applies */
  constructor(
    private readonly context: RecipeContext,
    private readonly name: LockName,
    private readonly base: BaseLock,
    private readonly most: number | undefined,
  ) {
    this.#requests = new IdempotentRequests(context, name, base.about);
  }

  get key(): string {
    return this.base.settings.key;
  }

  get identity(): LockIdentity {
    return this.base.identity;
  }

  async acquire(options: RedisPermitOptions = {}): Promise<RedisLease> {
    return await this.base.acquire(options, this.#holder(options));
  }

  /** As `Lock.tryAcquire`; without the option `fair` it skips waiters for more permits than are available. */
  async tryAcquire(options: RedisPermitOptions = {}): Promise<RedisLease | undefined> {
    return await this.base.tryAcquire(options, this.#holder(options));
  }

  /** Acquires, runs `fn` in the lease's scope, releases; settles as `fn` does. Before that, it rejects as `acquire` does. */
  using<T>(fn: (lease: Lease) => Promise<T> | T, options?: RedisPermitOptions): Promise<T> {
    return runWithLease(this.acquire(options), fn);
  }

  /** Resolves to the number of free permits, below 0 if there are fewer permits than are held. Rejects as `getPermits` does. */
  async availablePermits(): Promise<number> {
    return (await this.#count())[0];
  }

  /** Resolves to the number of held permits. Rejects as `getPermits` does. */
  async acquiredPermits(): Promise<number> {
    return (await this.#count())[1];
  }

  /** Resolves to the number of permits, held or not. Rejects with `LockConnectionError` if there is no answer in time. */
  async getPermits(): Promise<number> {
    const [available, acquired] = await this.#count();
    return available + acquired;
  }

  /** Sets the number of permits, unless it was set before; resolves to whether it did. */
  trySetPermits(permits: number): Promise<boolean> {
    return this.#resize('try', permits);
  }

  /** Sets the number of permits. If more are held, their holders keep them. */
  async setPermits(permits: number): Promise<void> {
    await this.#resize('set', permits);
  }

  /** Adds permits; removes them if `permits` is below 0. */
  async addPermits(permits: number): Promise<void> {
    validatePermits(Math.abs(permits), this.base.about);
    await this.#change(permitResize, ['add', permits]);
  }

  /**
   * Releases permits by their ids, all or none, whatever their holder.
   *
   * Rejects with `LockNotHeldError` if one of them is not held (any more), with `LockOptionsError` if one is not an id.
   */
  async release(permitIds: string | readonly string[]): Promise<void> {
    if (await this.tryRelease(permitIds)) return;
    throw new LockNotHeldError(this.base.about);
  }

  /** As `release`, but resolves to false if one of them is not held. */
  async tryRelease(permitIds: string | readonly string[]): Promise<boolean> {
    const ids = [permitIds].flat();
    for (const id of ids) validatePermitId(id, this.base.about);
    if (ids.length === 0) return true; // the server would record that there are 0 permits
    const timeToLive = this.most === undefined ? '' : this.context.semaphoreTimeToLive;
    const { context, name } = this;
    const released = await releasePermitIds(context, name, this.#requests, ids, timeToLive);
    const given = new Set(ids.map((id) => id.toLowerCase()));
    if (released)
      this.base.loseHold('its permit was released by its id', (hold) => has(hold, given));
    return released;
  }

  /** Resolves to the remaining lease of a permit in ms; -1 if it does not expire, `undefined` if it is not held. */
  async getLeaseTime(permitId: string): Promise<number | undefined> {
    validatePermitId(permitId, this.base.about);
    const keys = [this.name.permitTimeouts];
    const left = await this.#requests.ask(permitLease, keys, [bytesOf(permitId)]);
    return left === null ? undefined : Number(left);
  }

  /**
   * Sets the lease of a permit to `lease` ms from now; resolves to false if it is not held. For permits of other clients, whose
   * holders do not learn of it: a lease of this client is extended with `RedisLease.extend`.
   *
   * Rejects with `LockOptionsError` if this client holds it.
   */
  async updateLeaseTime(permitId: string, lease: number): Promise<boolean> {
    validateLease('lease', lease, this.base.about);
    validatePermitId(permitId, this.base.about);
    this.#refuseOwn(permitId);
    const args = [bytesOf(permitId), lease];
    return (await this.#requests.run(permitSetLease, [this.name.permitTimeouts], args)) === 1;
  }

  /** @throws LockOptionsError */
  #refuseOwn(permitId: string): void {
    const ids = new Set([permitId.toLowerCase()]);
    for (const { isLive, backend } of this.base.holds())
      if (isLive && has(backend, ids)) {
        const expected =
          'the id of a permit of another client; this one is held: use `extend` of its lease';
        throw new LockOptionsError('permitId', permitId, expected, this.base.about);
      }
  }

  async #resize(mode: 'try' | 'set', permits: number): Promise<boolean> {
    validatePermits(permits, this.base.about);
    return (await this.#change(permitResize, [mode, permits])) === 1;
  }

  #count(): Promise<[available: number, acquired: number]> {
    const { redisKey, permitTimeouts, wantedPermits } = this.name;
    const keys = [redisKey, permitTimeouts, wantedPermits];
    return this.#requests.ask(permitCount, keys, [this.most ?? '']) as Promise<[number, number]>;
  }

  #change(script: Script, args: readonly RedisArgument[]): Promise<number> {
    const { redisKey, permitTimeouts, semaphoreChannel, permitQueue } = this.name;
    const { publishCommand } = this.context.connection;
    const keys = [redisKey, permitTimeouts, permitQueue];
    const common = [publishCommand, semaphoreChannel, waitersOf(this.context, this.name)];
    return this.#requests.run(script, keys, [...common, ...args]);
  }

  #holder(options: RedisPermitOptions): string {
    this.base.validate(options);
    const { permits = 1 } = options;
    validatePermits(permits, this.base.about, this.most);
    validatePermitsAtOnce(permits, this.base.about);
    return newPermitHolder(permits);
  }
}

const bytesOf = (permitId: string) => Buffer.from(permitId, 'hex');

const has = (hold: { readonly holders: readonly string[] }, ids: ReadonlySet<string>) =>
  hold.holders.some((id) => ids.has(id));

/** @throws LockOptionsError unless it is a permit id, as given by a lease or by Redisson */
export function validatePermitId(id: unknown, context: LockErrorContext): void {
  if (typeof id === 'string' && /^[0-9a-f]{32}$/i.test(id)) return;
  throw new LockOptionsError(
    'permitId',
    id,
    'the id of a permit, 32 hexadecimal digits, as in `permitIds` of a lease',
    context,
  );
}
