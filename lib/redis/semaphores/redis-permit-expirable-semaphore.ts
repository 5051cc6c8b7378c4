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
import { IdempotentRequests } from '../locks/idempotent-requests.js';
import { newPermitHolder, validatePermitsAtOnce } from '../locks/permit-holder.js';
import { type RedisAcquireOptions, type RedisLease, validateLease } from '../locks/redis-lease.js';
import type { RecipeContext } from '../recipe-context.js';
import {
  permitCount,
  permitLease,
  permitReleaseIds,
  permitResize,
  permitSetLease,
} from '../scripts/index.js';

/** Options of an acquire on a semaphore on Redis. */
export interface RedisPermitOptions extends RedisAcquireOptions, PermitOptions {
  /**
   * How many permits to take, all together or none: a whole number from 1 to what the semaphore has, and to 10,000. The server
   * keeps each permit by itself; where a permit stands for something small, as a byte or a row, let it stand for many.
   *
   * @default 1
   */
  readonly permits?: number;
}

/**
 * A semaphore on Redis, compatible on the wire with Redisson's `RPermitExpirableSemaphore`: each permit has an id and a
 * lease, which is renewed as long as it is held; so the permits of a process that has crashed come back.
 *
 * Not reentrant: a nested acquire takes more permits.
 */
export class RedisPermitExpirableSemaphore implements CountingSemaphore {
  readonly #requests: IdempotentRequests;

  /** @param most how many permits there should be, so that no more can be asked for; none: as many as there are on the server */
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
    return await this.base.acquire(options, false, this.#holder(options));
  }

  /** As `Lock.tryAcquire`; without the option `fair` it passes by those who wait for more than there is. */
  async tryAcquire(options: RedisPermitOptions = {}): Promise<RedisLease | undefined> {
    return await this.base.tryAcquire(options, false, this.#holder(options));
  }

  /** Acquires, runs `fn` in the lease's scope, releases; settles as `fn` does. Rejects as `acquire` does before that. */
  async using<T>(fn: (lease: Lease) => Promise<T> | T, options?: RedisPermitOptions): Promise<T> {
    return await runWithLease(await this.acquire(options), fn);
  }

  /** Below 0 where there are fewer permits than are held. Rejects as ioredis does. */
  async availablePermits(): Promise<number> {
    return (await this.#count())[0];
  }

  /** How many are held. Rejects as ioredis does. */
  async acquiredPermits(): Promise<number> {
    return (await this.#count())[1];
  }

  /** How many there are, held or not. Rejects as ioredis does. */
  async getPermits(): Promise<number> {
    const [available, acquired] = await this.#count();
    return available + acquired;
  }

  /** Sets how many there are, unless that was done before; resolves to whether it did. */
  trySetPermits(permits: number): Promise<boolean> {
    return this.#resize('try', permits);
  }

  /** Sets how many there are. Where more are held, nothing is taken from those who hold. */
  async setPermits(permits: number): Promise<void> {
    await this.#resize('set', permits);
  }

  /** So many more; fewer, where it is below 0. */
  async addPermits(permits: number): Promise<void> {
    validatePermits(Math.abs(permits), this.base.about);
    await this.#change(permitResize, 'add', permits);
  }

  /**
   * Gives permits back by their ids, all or none, whoever has taken them.
   *
   * Rejects with `LockNotHeldError` when nobody has one of them (any more), with `LockOptionsError` when one is no id.
   */
  async release(permitIds: string | readonly string[]): Promise<void> {
    if (await this.tryRelease(permitIds)) return;
    throw new LockNotHeldError(this.base.about);
  }

  /** As `release`; resolves to false when nobody has one of them. */
  async tryRelease(permitIds: string | readonly string[]): Promise<boolean> {
    const ids = [permitIds].flat();
    for (const id of ids) validatePermitId(id, this.base.about);
    if (ids.length === 0) return true; // the server would note that there are 0 permits
    const released = (await this.#change(permitReleaseIds, ...ids.map(bytesOf))) === 1;
    if (released)
      this.base.loseHold('its permit was given back by its id', (hold) => has(hold, ids));
    return released;
  }

  /** Milliseconds that a permit has left; -1 when it does not end, `undefined` when nobody has it. */
  async getLeaseTime(permitId: string): Promise<number | undefined> {
    validatePermitId(permitId, this.base.about);
    const keys = [this.name.permitTimeouts];
    const left = await this.#requests.ask(permitLease, keys, [bytesOf(permitId)]);
    return left === null ? undefined : Number(left);
  }

  /**
   * Sets the lease of a permit to so many ms from now; resolves to false when nobody has it. For permits of others: a lease
   * of this process is extended with `RedisLease.extend`.
   */
  async updateLeaseTime(permitId: string, lease: number): Promise<boolean> {
    validateLease('lease', lease, this.base.about);
    validatePermitId(permitId, this.base.about);
    const args = [bytesOf(permitId), lease];
    return (await this.#requests.run(permitSetLease, [this.name.permitTimeouts], args)) === 1;
  }

  async #resize(mode: 'try' | 'set', permits: number): Promise<boolean> {
    validatePermits(permits, this.base.about);
    return (await this.#change(permitResize, mode, permits)) === 1;
  }

  #count(): Promise<[available: number, acquired: number]> {
    const { redisKey, permitTimeouts, wantedPermits } = this.name;
    const keys = [redisKey, permitTimeouts, wantedPermits];
    return this.#requests.ask(permitCount, keys, [this.most ?? '']) as Promise<[number, number]>;
  }

  #change(script: Script, ...args: RedisArgument[]): Promise<number> {
    const { redisKey, permitTimeouts, semaphoreChannel, permitQueue } = this.name;
    const { publishCommand } = this.context.connection;
    const keys = [redisKey, permitTimeouts, permitQueue];
    return this.#requests.run(script, keys, [publishCommand, semaphoreChannel, ...args]);
  }

  #holder(options: RedisPermitOptions): string {
    const { permits = 1 } = options;
    this.base.validate(options);
    validatePermits(permits, this.base.about, this.most);
    validatePermitsAtOnce(permits, this.base.about);
    return newPermitHolder(permits);
  }
}

const bytesOf = (permitId: string) => Buffer.from(permitId, 'hex');

const has = (hold: { readonly permitIds: readonly string[] }, ids: readonly string[]) =>
  hold.permitIds.some((id) => ids.includes(id));

/** @throws LockOptionsError unless it is an id as a lease, or Redisson, tells it */
export function validatePermitId(id: unknown, context: LockErrorContext): void {
  if (typeof id === 'string' && /^[0-9a-f]{32}$/i.test(id)) return;
  throw new LockOptionsError(
    'permitId',
    id,
    'the id of a permit, 32 hexadecimal digits, as `permitIds` of a lease tells it',
    context,
  );
}
