import type { Mutex } from '../../core/mutex.js';
import { AtomicKind } from './atomic-kind.js';
import type { AtomicOptions } from './atomic-options.js';
import type { AtomicValue } from './atomic-value.js';
import { checkInt32 } from './check-int32.js';
import { DistributedAtomicValue } from './distributed-atomic-value.js';
import type { LockSettings } from './lock-settings.js';
import type { RecipeContext } from './recipe-context.js';

const KIND = new AtomicKind(32);

/**
 * A 32-bit number that everybody may change at the same time, compatible on the wire with Curator's class of that name, and
 * with a {@link SharedCount} of the same key. It stays when nobody uses it; where there is none yet it is 0.
 *
 * It does and promises what {@link DistributedAtomicLong} does, with whole numbers from -2^31 to 2^31 - 1.
 */
export class DistributedAtomicInteger {
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
  async get(): Promise<number> {
    return Number(await this.#value.get());
  }

  /** Adds 1. */
  increment(): Promise<AtomicValue<number>> {
    return this.add(1);
  }

  /** Takes 1 away. */
  decrement(): Promise<AtomicValue<number>> {
    return this.subtract(1);
  }

  /** Adds `delta`, which may be below 0. */
  async add(delta: number): Promise<AtomicValue<number>> {
    const by = this.#number('delta', delta);
    return inNumbers(await this.#value.change((value) => value + by));
  }

  /** Takes `delta` away. */
  async subtract(delta: number): Promise<AtomicValue<number>> {
    const by = this.#number('delta', delta);
    return inNumbers(await this.#value.change((value) => value - by));
  }

  /** Sets it, in the same way as `add` changes it: `preValue` is what it was just before. */
  async trySet(value: number): Promise<AtomicValue<number>> {
    const wanted = this.#number('value', value);
    return inNumbers(await this.#value.change(() => wanted));
  }

  /** Sets it if it is `expected`. Where there is none yet it is not 0 here, as in Curator: see `initialize`. */
  async compareAndSet(expected: number, value: number): Promise<AtomicValue<number>> {
    const seen = this.#number('expected', expected);
    return inNumbers(await this.#value.compareAndSet(seen, this.#number('value', value)));
  }

  /** Sets it, whatever it is, also when something else is stored there: without regard to others who change it. */
  async forceSet(value: number): Promise<void> {
    await this.#value.forceSet(this.#number('value', value));
  }

  /** Sets it where there is none yet. Resolves to false where there is one. */
  async initialize(value: number): Promise<boolean> {
    return await this.#value.initialize(this.#number('value', value));
  }

  #number(option: string, value: number): bigint {
    checkInt32(option, value, { key: this.key, client: this.#client });
    return BigInt(value);
  }
}

function inNumbers({ preValue, postValue, ...rest }: AtomicValue<bigint>): AtomicValue<number> {
  return { ...rest, preValue: Number(preValue), postValue: Number(postValue) };
}
