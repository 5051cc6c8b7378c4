import { type LockErrorContext, LockOptionsError } from '../../core/errors/index.js';
import type { Mutex } from '../../core/lock.js';
import type { LockSettings } from '../lock-path.js';
import type { RecipeContext } from '../recipe-context.js';
import { checkInt32 } from '../shared/shared-count.js';
import { AtomicKind } from './atomic-node.js';
import type { AtomicOptions, AtomicValue } from './atomic-options.js';
import { DistributedAtomicValue } from './distributed-atomic-value.js';

/** Conversion between the numbers of callers and those in a node of one kind. */
interface NumberCodec<N, I> {
  readonly kind: AtomicKind;
  /** @throws LockOptionsError naming the argument */
  parse(argument: string, value: I, context: LockErrorContext): bigint;
  format(value: bigint): N;
}

const LONG = new AtomicKind(64);

/** @internal */
export const longCodec: NumberCodec<bigint, bigint | number> = {
  kind: LONG,
  parse(argument, value, context) {
    const number = Number.isSafeInteger(value) ? BigInt(value) : value;
    if (typeof number === 'bigint' && LONG.has(number)) return number;
    const expected = 'a bigint from -2^63 to 2^63 - 1, or a safe integer';
    throw new LockOptionsError(argument, value, expected, context);
  },
  format: (value) => value,
};

/** @internal */
export const integerCodec: NumberCodec<number, number> = {
  kind: new AtomicKind(32),
  parse(argument, value, context) {
    checkInt32(argument, value, context);
    return BigInt(value);
  },
  format: Number,
};

/**
 * A number that all clients may change concurrently. It persists while no client uses it; one that does not exist yet is 0.
 *
 * A change is tried without a lock first, and after too many conflicts inside of one. It resolves to an {@link AtomicValue}:
 * check `succeeded`.
 *
 * All methods reject with `LockOptionsError` for an argument that is not a number of this kind; with `LockKeyError` when
 * something else is stored there; with `LockConnectionError` when there is no answer within the client's `connectTimeout`;
 * with `LockClientClosedError` when the client closes; with `ZooKeeperError` when the servers reject the request, or are too busy
 * for it during all of the `connectTimeout`. Changes also reject with `CounterOverflowError`, and nothing is changed; and with a
 * `ZooKeeperError` that has `maybeDone` set when the connection was lost on the way and it is unknown whether they were made. No
 * change is ever made twice.
 *
 * @typeParam N type of returned numbers
 * @typeParam I type of arguments
 */
export class DistributedAtomicNumber<N extends bigint | number, I extends bigint | number = N> {
  readonly key: string;
  /** Path of the node. */
  readonly path: string;
  readonly #value: DistributedAtomicValue;
  readonly #about: LockErrorContext;

  constructor(
    private readonly codec: NumberCodec<N, I>,
    context: RecipeContext,
    settings: LockSettings,
    options: AtomicOptions,
    mutexOf: (key: string) => Mutex,
  ) {
    const { key, path } = settings;
    this.key = key;
    this.path = path;
    this.#about = { key, client: context.client };
    this.#value = new DistributedAtomicValue(context, settings, codec.kind, options, mutexOf);
  }

  /** Resolves to the number on the server that the client is connected to, which may lag behind the others by a moment. */
  async get(): Promise<N> {
    return this.codec.format(await this.#value.get());
  }

  /** Adds 1. */
  increment(): Promise<AtomicValue<N>> {
    return this.#add(1n);
  }

  /** Subtracts 1. */
  decrement(): Promise<AtomicValue<N>> {
    return this.#add(-1n);
  }

  /** Adds `delta`, which may be negative. */
  async add(delta: I): Promise<AtomicValue<N>> {
    return await this.#add(this.#parse('delta', delta));
  }

  /** Subtracts `delta`. */
  async subtract(delta: I): Promise<AtomicValue<N>> {
    return await this.#add(-this.#parse('delta', delta));
  }

  /** Sets the number, in the same way as `add` changes it: `preValue` is the number just before. */
  async trySet(value: I): Promise<AtomicValue<N>> {
    const wanted = this.#parse('value', value);
    return this.#formatted(await this.#value.change(() => wanted));
  }

  /** Sets the number if it is `expected`. As in Curator, one that does not exist yet is not 0 here: see `initialize`. */
  async compareAndSet(expected: I, value: I): Promise<AtomicValue<N>> {
    const seen = this.#parse('expected', expected);
    return this.#formatted(await this.#value.compareAndSet(seen, this.#parse('value', value)));
  }

  /** Sets the number unconditionally, also when something else is stored there: concurrent changes are overwritten. */
  async forceSet(value: I): Promise<void> {
    await this.#value.forceSet(this.#parse('value', value));
  }

  /** Sets the number if it does not exist yet. Resolves to false if it does. */
  async initialize(value: I): Promise<boolean> {
    return await this.#value.initialize(this.#parse('value', value));
  }

  async #add(delta: bigint): Promise<AtomicValue<N>> {
    return this.#formatted(await this.#value.change((value) => value + delta));
  }

  #parse(argument: string, value: I): bigint {
    return this.codec.parse(argument, value, this.#about);
  }

  #formatted({ preValue, postValue, ...rest }: AtomicValue<bigint>): AtomicValue<N> {
    const { codec } = this;
    return { ...rest, preValue: codec.format(preValue), postValue: codec.format(postValue) };
  }
}

/**
 * A {@link DistributedAtomicNumber} of 64 bits, wire-compatible with Curator's class of that name: returned as a bigint,
 * passed as a bigint or as a safe integer.
 */
export type DistributedAtomicLong = DistributedAtomicNumber<bigint, bigint | number>;

/**
 * A {@link DistributedAtomicNumber} of 32 bits, wire-compatible with Curator's class of that name, and with a
 * {@link SharedCount} of the same key: an integer from -2^31 to 2^31 - 1.
 */
export type DistributedAtomicInteger = DistributedAtomicNumber<number>;
