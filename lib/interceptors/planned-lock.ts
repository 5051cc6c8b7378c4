import {
  LockKeyError,
  LockTimeoutError,
  type AcquireOptions,
  type Lease,
  type Lock,
  type LockClient,
} from '../core/index.js';
import { useLease } from '../core/use-lease.js';
import type { LockPlan } from '../interfaces/lock-plan.interface.js';
import { nameKeyError } from './name-key-error.js';
import { tellLoss } from './tell-loss.js';

/** What a missing value or an object has become by being put into a text. */
const SPOILT = /^(?:undefined|null|NaN)$|\[object Object\]/;

/** A {@link LockPlan} and the client that carries it out. */
export class PlannedLock {
  /** The lock of a literal key: the same for all calls. */
  readonly #fixed?: Lock;
  readonly #options?: AcquireOptions;

  /** @throws LockKeyError naming the method, when a literal key cannot name a lock of this client */
  constructor(
    private readonly plan: LockPlan,
    private readonly client: LockClient,
  ) {
    const { key, options } = plan;
    if (options.wait !== undefined) this.#options = { wait: options.wait };
    if (typeof key === 'string') this.#fixed = this.#lock(key);
  }

  /**
   * Runs `proceed` under the lock; settles as it does, or as `onBusy` says.
   *
   * @param signal ends the wait
   */
  async run(args: unknown[], proceed: () => unknown, signal?: AbortSignal): Promise<unknown> {
    const { onBusy = 'throw', onLost } = this.plan.options;
    const lock = this.#fixed ?? this.#lockOf(args);
    let lease: Lease;
    try {
      lease = await this.#acquire(lock, signal);
    } catch (error) {
      if (onBusy === 'throw' || !(error instanceof LockTimeoutError)) throw error;
      return onBusy === 'skip' ? undefined : onBusy(error, ...(args as never[]));
    }
    if (onLost !== undefined) tellLoss(lease, this.plan, args);
    return useLease(lease, proceed);
  }

  async #acquire(lock: Lock, signal?: AbortSignal): Promise<Lease> {
    const { wait, onBusy = 'throw' } = this.plan.options;
    const options = signal === undefined ? this.#options : { ...this.#options, signal };
    if (wait !== undefined || onBusy === 'throw') return lock.acquire(options);
    const lease = await lock.tryAcquire(options);
    if (lease !== undefined) return lease;
    throw new LockTimeoutError(0, { key: lock.key, client: this.client.name });
  }

  /** The lock of these arguments. An error of the user's key function comes out as it is. */
  #lockOf(args: unknown[]): Lock {
    const { key, method } = this.plan;
    const text = (key as (...args: unknown[]) => unknown)(...args);
    if (typeof text === 'string' && SPOILT.test(text))
      throw new LockKeyError(
        text,
        `a value is missing or is an object (it is the key of ${method})`,
      );
    return this.#lock(text);
  }

  #lock(key: unknown): Lock {
    try {
      return this.client.mutex(key as string); // which refuses what is not a string
    } catch (error) {
      throw nameKeyError(error, key, this.plan.method);
    }
  }
}
