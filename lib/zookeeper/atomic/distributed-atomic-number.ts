import { type LockErrorContext, LockOptionsError } from '../../core/errors/index.js';
import type { Mutex } from '../../core/lock.js';
import type { LockSettings } from '../lock-path.js';
import type { RecipeContext } from '../recipe-context.js';
import { checkInt32 } from '../shared/shared-count.js';
import { AtomicKind } from './atomic-node.js';
import type { AtomicOptions, AtomicValue } from './atomic-options.js';
import { DistributedAtomicValue } from './distributed-atomic-value.js';

/** What users give and get for a number of that many bits. */
export interface NumberCodec<N, I> {
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
 * A number that everybody may change at the same time. It stays when nobody uses it; where there is none yet it is 0.
 *
 * A change is tried without a lock first, and when too many others come in between, inside of one. It resolves to an
 * {@link AtomicValue}: look at `succeeded`.
 *
 * All methods reject with `LockOptionsError` for a number that is none of its kind; with `LockKeyError` when something else is
 * stored there; with `LockConnectionError` when there is no answer within the client's `connectTimeout`; with
 * `LockClientClosedError` when the client closes; with `ZooKeeperError` when the servers refuse. Changes also with
 * `CounterOverflowError`, and nothing is changed; and with a `ZooKeeperError` that says `maybeDone` when the connection was
 * lost on the way and it cannot be told whether they were made. No change is ever made twice.
 *
 * @typeParam N what it is told as
 * @typeParam I what it is given as
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

  /** What it is on the server that we are connected to, which may be behind the others by a moment. */
  async get(): Promise<N> {
    return this.codec.format(await this.#value.get());
  }

  /** Adds 1. */
  increment(): Promise<AtomicValue<N>> {
    return this.#add(1n);
  }

  /** Takes 1 away. */
  decrement(): Promise<AtomicValue<N>> {
    return this.#add(-1n);
  }

  /** Adds `delta`, which may be below 0. */
  async add(delta: I): Promise<AtomicValue<N>> {
    return await this.#add(this.#parse('delta', delta));
  }

  /** Takes `delta` away. */
  async subtract(delta: I): Promise<AtomicValue<N>> {
    return await this.#add(-this.#parse('delta', delta));
  }

  /** Sets it, in the same way as `add` changes it: `preValue` is what it was just before. */
  async trySet(value: I): Promise<AtomicValue<N>> {
    const wanted = this.#parse('value', value);
    return this.#formatted(await this.#value.change(() => wanted));
  }

  /** Sets it if it is `expected`. Where there is none yet it is not 0 here, as in Curator: see `initialize`. */
  async compareAndSet(expected: I, value: I): Promise<AtomicValue<N>> {
    const seen = this.#parse('expected', expected);
    return this.#formatted(await this.#value.compareAndSet(seen, this.#parse('value', value)));
  }

  /** Sets it, whatever it is, also when something else is stored there: without regard to others who change it. */
  async forceSet(value: I): Promise<void> {
    await this.#value.forceSet(this.#parse('value', value));
  }

  /** Sets it where there is none yet. Resolves to false where there is one. */
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
 * A {@link DistributedAtomicNumber} of 64 bits, compatible on the wire with Curator's class of that name: a bigint, given as
 * one or as a safe integer.
 */
export type DistributedAtomicLong = DistributedAtomicNumber<bigint, bigint | number>;

/**
 * A {@link DistributedAtomicNumber} of 32 bits, compatible on the wire with Curator's class of that name, and with a
 * {@link SharedCount} of the same key: a whole number from -2^31 to 2^31 - 1.
 */
export type DistributedAtomicInteger = DistributedAtomicNumber<number>;
