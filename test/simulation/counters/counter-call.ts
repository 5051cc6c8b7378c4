import type { SharedCount } from '../../../lib/zookeeper/shared/shared-count.js';
import type { Change } from './change.js';
import type { Counter, Outcome } from './counter.js';

export type CounterMethod = Exclude<keyof Counter, 'get'> | 'trySetCount' | 'setCount';

/** One way to change a number. */
export interface CounterCall {
  readonly makes: Change['makes'];
  /** Its result: the values before and after; only whether it was made; or nothing except that it was made. */
  run(): Promise<Outcome | boolean | void>;
}

export interface CounterCallOptions {
  readonly counter: Counter;
  /** The same number as a shared count, where it has 32 bits. */
  readonly count?: SharedCount;
  /** What the number was when the user last saw it. */
  readonly seen: number;
  /** Unique: no two calls add it, or set it. */
  readonly delta: number;
  readonly value: number;
}

/** @throws if it is a method of a shared count, and there is none */
export function counterCall(method: CounterMethod, options: CounterCallOptions): CounterCall {
  const { counter, count, seen, delta, value } = options;
  const adds = (before = 0n, now: bigint) => now - before === BigInt(delta);
  const takesAway = (before = 0n, now: bigint) => before - now === BigInt(delta);
  const sets = (_: unknown, now: bigint) => now === BigInt(value);
  const replaces = (expected: number) => (before: bigint | undefined, now: bigint) =>
    before === BigInt(expected) && now === BigInt(value);
  const begins = (before: bigint | undefined, now: bigint) =>
    before === undefined && now === BigInt(value);
  switch (method) {
    case 'add':
      return { makes: adds, run: () => counter.add(delta) };
    case 'subtract':
      return { makes: takesAway, run: () => counter.subtract(delta) };
    case 'trySet':
      return { makes: sets, run: () => counter.trySet(value) };
    case 'compareAndSet':
      return { makes: replaces(seen), run: () => counter.compareAndSet(seen, value) };
    case 'forceSet':
      return { makes: sets, run: () => counter.forceSet(value) };
    case 'initialize':
      return { makes: begins, run: () => counter.initialize(value) };
    case 'trySetCount': {
      const previous = count!.versionedCount;
      return { makes: replaces(previous.value), run: () => count!.trySetCount(value, previous) };
    }
    case 'setCount':
      return { makes: sets, run: () => count!.setCount(value) };
  }
}
