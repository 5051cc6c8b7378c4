import {
  LockAbortedError,
  type LockErrorContext,
  LockOptionsError,
} from '../../core/errors/index.js';
import { runAcquire } from '../../core/internal/acquire.js';
import type { Hold } from '../../core/internal/hold.js';
import { LeaseHandle, runWithLease } from '../../core/internal/lease-handle.js';
import { LeaseScope } from '../../core/internal/lease-scope.js';
import { ownHolder } from '../../core/internal/own-holder.js';
import { validateAcquireOptions } from '../../core/internal/validation.js';
import type { Lease } from '../../core/lease.js';
import type { LockIdentity, LockRecipe, Mutex } from '../../core/lock.js';
import { LocalQueuePlace } from '../locks/local-queue.js';
import type { LockCommands } from '../locks/lock-commands.js';
import { type RedisAcquireOptions, validateLease, validateMaxHold } from '../locks/redis-lease.js';
import type { RedisLock } from '../locks/redis-lock.js';
import type { Ballot } from './ballot.js';
import { RedLockAttempt } from './red-lock-attempt.js';
import { type RedLockContext, RedLockHold } from './red-lock-hold.js';

/** A lease on a {@link RedLock}. */
export class RedLockLease extends LeaseHandle<RedLockHold> {
  /** Milliseconds until the lease is lost, unless it is renewed; 0 if it is not held. */
  remaining(): number {
    return this.isHeld ? this.hold.backend.remaining() : 0;
  }
}

/**
 * A mutex on several independent Redis servers, of which a majority must grant it (the Redlock algorithm, and Redisson's
 * `RedissonRedLock`): it keeps working while a minority is down, and it is exclusive as far as the clocks allow, and as long
 * as no server forgets what it has granted.
 */
export class RedLock implements Mutex {
  readonly identity: LockIdentity;
  readonly #commands: Pick<LockCommands, 'localQueue' | 'redisKey'>;

  /**
   * @param parts the same lock on each server, not reentrant
   * @param isReentrant whether a nested acquire re-enters
   */
  constructor(
    private readonly context: RedLockContext,
    readonly key: string,
    private readonly parts: readonly RedisLock[],
    private readonly isReentrant: boolean,
    recipe: LockRecipe,
  ) {
    const { name } = parts[0]!.identity;
    this.identity = { scope: context, recipe, name, client: context.client };
    this.#commands = { localQueue: 'exclusive', redisKey: name };
  }

  async acquire(options: RedisAcquireOptions = {}): Promise<RedLockLease> {
    const lease = await this.#acquire(options, true);
    return lease!; // an acquire that may wait ends with a lease or an error
  }

  /**
   * As `Lock.tryAcquire`; without a `wait` it waits for the servers for the client's `nodeTimeout`. Rejects with
   * `LockConnectionError` if too few have answered to know the outcome.
   */
  tryAcquire(options: RedisAcquireOptions = {}): Promise<RedLockLease | undefined> {
    return this.#acquire(options, false);
  }

  using<T>(fn: (lease: Lease) => Promise<T> | T, options?: RedisAcquireOptions): Promise<T> {
    return runWithLease(this.acquire(options), fn);
  }

  async #acquire(given: RedisAcquireOptions, mayWait: boolean): Promise<RedLockLease | undefined> {
    const { context, key } = this;
    this.#validate(given);
    const options = { ...given }; // the caller may change its object while this waits
    const held = this.#reenter(options);
    if (held) return new RedLockLease(held);
    const byDefault = mayWait ? context.wait : undefined; // one attempt is bounded by the time-out of the servers
    const { wait = byDefault, lease, maxHold, minLease, method } = options;
    const { recipe } = this.identity;
    const endsAt = typeof wait === 'number' ? context.clock.now() + wait : Infinity;
    return await runAcquire(context, { key, recipe, options, wait, mayWait }, async (scope) => {
      const line = new LocalQueuePlace(context.lines, this.#commands, mayWait);
      let attempt: RedLockAttempt | undefined;
      let ballot: Ballot | undefined;
      const holder = () => ownHolder(context, [this.identity.name]) ?? attempt?.holder;
      scope.holder = holder;
      try {
        if (!line.isFirst) {
          if (!mayWait) return undefined;
          scope.contended();
          await line.first(scope);
        }
        const terms = { lease, maxHold, minLease, method };
        attempt = new RedLockAttempt(context, this.parts, key, terms, scope, endsAt);
        ballot = await (mayWait ? attempt.run() : attempt.once());
      } finally {
        if (ballot === undefined) line.leave();
      }
      if (ballot === undefined) return undefined;
      return new RedLockLease(this.#hold(ballot, () => line.leave(), method));
    });
  }

  /** @param ended called when the lock is free or lost */
  #hold(ballot: Ballot, ended: () => void, method?: string): Hold<RedLockHold> {
    const { context, identity, key } = this;
    return new RedLockHold(context, identity, key, ballot, ended, method).hold;
  }

  #validate(options: RedisAcquireOptions): void {
    const about = { key: this.key, client: this.context.client };
    validateAcquireOptions(options, about, ['lease', 'maxHold']);
    const { lease, maxHold } = options;
    if (lease !== undefined) validateRedLockLease(lease, this.context.nodeTimeout, about);
    validateMaxHold(maxHold, about);
  }

  #reenter({ signal }: RedisAcquireOptions): Hold<RedLockHold> | undefined {
    if (!this.isReentrant) return undefined;
    const hold = LeaseScope.find(this.identity) as Hold<RedLockHold> | undefined; // a hold in this scope has this backend
    if (hold && signal?.aborted)
      throw new LockAbortedError({ ...hold.context, cause: signal.reason });
    return hold;
  }
}

/**
 * @param nodeTimeout time that each server may take, in ms
 * @throws LockOptionsError
 */
export function validateRedLockLease(
  lease: number,
  nodeTimeout: number,
  about: LockErrorContext,
): void {
  validateLease('lease', lease, about);
  if (lease < 3 * nodeTimeout)
    throw new LockOptionsError(
      'lease',
      lease,
      `at least three times the \`nodeTimeout\`, which is ${nodeTimeout} ms`,
      about,
    );
}
