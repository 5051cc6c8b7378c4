import { LockOptionsError } from '../../core/errors/index.js';
import type { Mutex } from '../../core/mutex.js';
import { AtomicKind } from './atomic-kind.js';
import type { AtomicOptions } from './atomic-options.js';
import type { AtomicValue } from './atomic-value.js';
import { DistributedAtomicValue } from './distributed-atomic-value.js';
import type { LockSettings } from './lock-settings.js';
import type { RecipeContext } from './recipe-context.js';

const KIND = new AtomicKind(64);

/**
 * A 64-bit number that everybody may change at the same time, compatible on the wire with Curator's class of that name. It
 * stays when nobody uses it; where there is none yet it is 0.
 *
 * A change is tried without a lock first, and when too many others come in between, inside of one. It resolves to an
 * {@link AtomicValue}: look at `succeeded`.
 *
 * A number is a bigint, or a safe integer. All methods reject with `LockOptionsError` for one that is not, or is beyond 64
 * bits; with `LockKeyError` when something else is stored there; with `LockConnectionError` when there is no answer within the
 * client's `connectTimeout`; with `LockClientClosedError` when the client closes; with `ZooKeeperError` when the servers
 * refuse. Changes also with `CounterOverflowError`, and nothing is changed; and with a `ZooKeeperError` that says `maybeDone`
 * when the connection was lost on the way and it cannot be told whether they were made. No change is ever made twice.
 */
export class DistributedAtomicLong {
  readonly key: string;
  /** Path of the node. */
  readonly path: string;
  readonly #value: DistributedAtomicValue;
  readonly #client: string;

  constructor(
    context: RecipeContext,
    settings: LockSettings,
    options: AtomicOptions,
    mutexOf: (key: string) => Mutex,
  ) {
    this.key = settings.key;
    this.path = settings.path;
    this.#client = context.client;
    this.#value = new DistributedAtomicValue(context, settings, KIND, options, mutexOf);
  }

  /** What it is on the server that we are connected to, which may be behind the others by a moment. */
  get(): Promise<bigint> {
    return this.#value.get();
  }

  /** Adds 1. */
  increment(): Promise<AtomicValue<bigint>> {
    return this.add(1n);
  }

  /** Takes 1 away. */
  decrement(): Promise<AtomicValue<bigint>> {
    return this.subtract(1n);
  }

  /** Adds `delta`, which may be below 0. */
  async add(delta: bigint | number): Promise<AtomicValue<bigint>> {
    const by = this.#number('delta', delta);
    return await this.#value.change((value) => value + by);
  }

  /** Takes `delta` away. */
  async subtract(delta: bigint | number): Promise<AtomicValue<bigint>> {
    const by = this.#number('delta', delta);
    return await this.#value.change((value) => value - by);
  }

  /** Sets it, in the same way as `add` changes it: `preValue` is what it was just before. */
  async trySet(value: bigint | number): Promise<AtomicValue<bigint>> {
    const wanted = this.#number('value', value);
    return await this.#value.change(() => wanted);
  }

  /** Sets it if it is `expected`. Where there is none yet it is not 0 here, as in Curator: see `initialize`. */
  async compareAndSet(
    expected: bigint | number,
    value: bigint | number,
  ): Promise<AtomicValue<bigint>> {
    return await this.#value.compareAndSet(
      this.#number('expected', expected),
      this.#number('value', value),
    );
  }

  /** Sets it, whatever it is, also when something else is stored there: without regard to others who change it. */
  async forceSet(value: bigint | number): Promise<void> {
    await this.#value.forceSet(this.#number('value', value));
  }

  /** Sets it where there is none yet. Resolves to false where there is one. */
  async initialize(value: bigint | number): Promise<boolean> {
    return await this.#value.initialize(this.#number('value', value));
  }

  #number(option: string, value: unknown): bigint {
    const number = Number.isSafeInteger(value) ? BigInt(value as number) : value;
    if (typeof number === 'bigint' && KIND.has(number)) return number;
    const expected = 'a bigint from -2^63 to 2^63 - 1, or a safe integer';
    throw new LockOptionsError(option, value, expected, { key: this.key, client: this.#client });
  }
}
