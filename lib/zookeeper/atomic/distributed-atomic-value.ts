import { CounterOverflowError, LockTimeoutError } from '../../core/errors/index.js';
import { runWait } from '../../core/internal/acquire.js';
import type { WaitScope } from '../../core/internal/wait-scope.js';
import type { Lease } from '../../core/lease.js';
import type { Mutex } from '../../core/lock.js';
import { BoundedExponentialBackoffRetry, type RetryPolicy } from '../connection/retry-policies.js';
import type { LockSettings } from '../lock-path.js';
import { resendWhileBusy } from '../nodes/resend-while-busy.js';
import { createIfMissing } from '../nodes/retry-loop.js';
import type { RecipeContext } from '../recipe-context.js';
import { noNumberError } from '../shared/watched-value.js';
import { type AtomicKind, AtomicNode, type SeenNode } from './atomic-node.js';
import {
  type AtomicOptions,
  type AtomicValue,
  checkAtomicOptions,
  type PromotedToLock,
} from './atomic-options.js';

/** Returns the new number, or `undefined` to change nothing. `exists`: whether there is a node. */
type Change = (value: bigint, exists: boolean) => bigint | undefined;

type Outcome = Omit<AtomicValue<bigint>, 'stats'> & { readonly tries: number };

const DEFAULT_POLICY = new BoundedExponentialBackoffRetry(5, 100, 8);

/** For changes that end by themselves once the value is another: a retry follows a conflict or a lost connection. */
const UNTIL_IT_IS_ANOTHER: RetryPolicy = { nextDelay: () => 0 };

/**
 * A number in a node that is changed by compare-and-set: without a lock first, and after too many conflicts inside of one.
 * Curator's class of that name.
 *
 * With or without the lock, every change depends on what was read, so a client that does not acquire the lock cannot be
 * overwritten.
 */
export class DistributedAtomicValue {
  readonly #node: AtomicNode;
  readonly #policy: RetryPolicy;
  readonly #promotion: PromotedToLock | false;
  readonly #mutex?: Mutex;

  /** @param mutexOf creates the mutex of a key */
  constructor(
    private readonly context: RecipeContext,
    private readonly settings: LockSettings,
    private readonly kind: AtomicKind,
    options: AtomicOptions,
    mutexOf: (key: string) => Mutex,
  ) {
    const { key } = settings;
    checkAtomicOptions(options, { key, client: context.client });
    const { retryPolicy = DEFAULT_POLICY, promotedToLock = {} } = options;
    this.#node = new AtomicNode(context, settings);
    this.#policy = retryPolicy;
    this.#promotion = promotedToLock;
    if (promotedToLock !== false) this.#mutex = mutexOf(promotedToLock.key ?? `${key}-lock`);
  }

  async get(): Promise<bigint> {
    return this.#valueOf(await this.#node.read());
  }

  change(next: (value: bigint) => bigint): Promise<AtomicValue<bigint>> {
    return this.#run(async (wait) => {
      const { clock } = this.context;
      const begun = clock.now();
      const { tries, ...optimistic } = await this.#try(wait, this.#policy, next);
      const stats = {
        optimisticTries: tries,
        optimisticTimeMs: clock.now() - begun,
        promotedLockTries: 0,
        promotedTimeMs: 0,
      };
      if (optimistic.succeeded || !this.#promotion) return { ...optimistic, stats };
      const promotedAt = clock.now();
      const { tries: promotedLockTries = 0, ...promoted } = await this.#promoted(wait, next);
      const promotedTimeMs = clock.now() - promotedAt;
      return { ...optimistic, ...promoted, stats: { ...stats, promotedLockTries, promotedTimeMs } };
    });
  }

  compareAndSet(expected: bigint, value: bigint): Promise<AtomicValue<bigint>> {
    return this.#run(async (wait) => {
      const begun = this.context.clock.now();
      const change: Change = (now, exists) => (exists && now === expected ? value : undefined);
      let { tries, ...outcome } = await this.#try(wait, UNTIL_IT_IS_ANOTHER, change);
      if (!outcome.succeeded) {
        await this.#node.catchUp(); // the server that we are connected to may lag behind
        const again = await this.#try(wait, UNTIL_IT_IS_ANOTHER, change);
        ({ tries, ...outcome } = { ...again, tries: tries + again.tries });
      }
      const optimisticTimeMs = this.context.clock.now() - begun;
      const promoted = { promotedLockTries: 0, promotedTimeMs: 0 };
      return { ...outcome, stats: { optimisticTries: tries, optimisticTimeMs, ...promoted } };
    });
  }

  initialize(value: bigint): Promise<boolean> {
    return this.#run(async (wait) => {
      const change: Change = (_, exists) => (exists ? undefined : value);
      return (await this.#try(wait, UNTIL_IT_IS_ANOTHER, change)).succeeded;
    });
  }

  async forceSet(value: bigint): Promise<void> {
    const { connection } = this.context;
    const bytes = this.kind.encode(value);
    await createIfMissing(this.context, this.settings, bytes, () =>
      connection.setData(this.settings.path, bytes),
    );
  }

  /** Runs `work` so that closing the client ends its pauses. */
  #run<T>(work: (wait: WaitScope) => Promise<T>): Promise<T> {
    return runWait(this.context, { key: this.settings.key, options: {} }, work);
  }

  /** Tries until the change is made, `change` returns `undefined`, or `policy` gives up. */
  async #try(wait: WaitScope, policy: RetryPolicy, change: Change): Promise<Outcome> {
    const { clock } = this.context;
    const begun = clock.now();
    for (let tries = 1; ; tries++) {
      wait.throwIfEnded();
      const seen = await this.#node.read();
      const preValue = this.#valueOf(seen);
      const postValue = this.#checked(change(preValue, seen !== undefined));
      if (postValue !== undefined && (await this.#replace(seen, postValue)))
        return { succeeded: true, preValue, postValue, tries };
      const delay =
        postValue === undefined ? undefined : policy.nextDelay(tries - 1, clock.now() - begun);
      if (delay === undefined) return { succeeded: false, preValue, postValue: preValue, tries };
      await wait.sleep(delay);
    }
  }

  /** As `AtomicNode.replace`; servers that are busy are no other client that has come first. */
  #replace(seen: SeenNode, value: bigint): Promise<boolean> {
    const bytes = this.kind.encode(value);
    return resendWhileBusy(this.context, this.settings.key, () => this.#node.replace(seen, bytes));
  }

  /** Like `#try`, inside of the mutex; resolves to `{}` when the mutex was not acquired in time. */
  async #promoted(wait: WaitScope, change: Change): Promise<Partial<Outcome>> {
    const { wait: patience, retryPolicy = this.#policy } = this.#promotion as PromotedToLock;
    let lease: Lease;
    try {
      // A caller that holds this very mutex re-enters it; otherwise it would wait for itself.
      lease = await this.#mutex!.acquire({ wait: patience });
    } catch (error) {
      if (error instanceof LockTimeoutError) return {};
      throw error;
    }
    try {
      return await this.#try(wait, retryPolicy, change);
    } finally {
      await lease.release();
    }
  }

  #valueOf(seen: SeenNode): bigint {
    if (seen === undefined) return 0n;
    const value = this.kind.decode(seen.data);
    if (value === undefined) throw noNumberError(this.settings, this.context.client, seen.data);
    return value;
  }

  #checked(value: bigint | undefined): bigint | undefined {
    if (value === undefined || this.kind.has(value)) return value;
    const { key } = this.settings;
    throw new CounterOverflowError(value, this.kind.bits, { key, client: this.context.client });
  }
}
