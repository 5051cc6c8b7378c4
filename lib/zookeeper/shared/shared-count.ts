import { type LockErrorContext, LockOptionsError } from '../../core/errors/index.js';
import type { LockSettings } from '../lock-path.js';
import type { RecipeContext } from '../recipe-context.js';
import { WatchedValue, type ValueCodec, type VersionedValue } from './watched-value.js';

/** A number that may change, such as a `SharedCount`. */
export interface SharedCountReader {
  readonly count: number;
  /** Calls `listener` when the number has changed; the returned function removes the listener. */
  onChange(listener: (count: number) => void): () => void;
}

const BYTES = 4;

const CODEC: ValueCodec<number> = {
  encode(count) {
    const bytes = Buffer.alloc(BYTES);
    bytes.writeInt32BE(count);
    return bytes;
  },
  decode: (bytes) => (bytes.length === BYTES ? bytes.readInt32BE() : undefined),
};

/**
 * A 32-bit number that all clients see and may change, wire-compatible with Curator's class of that name. It persists while
 * no client uses it.
 *
 * `count` is the number seen last: a change arrives within the time of a message, or after the next reconnect.
 */
export class SharedCount implements SharedCountReader {
  readonly key: string;
  /** Path of the node. */
  readonly path: string;
  readonly #value: WatchedValue<number>;
  readonly #check: (option: string, count: unknown) => void;

  /** @param seed the initial number if there is none yet */
  constructor(context: RecipeContext, { key, path }: LockSettings, seed: number) {
    this.key = key;
    this.path = path;
    const check = (option: string, count: unknown) =>
      checkInt32(option, count, { key, client: context.client });
    this.#check = check;
    check('seed', seed);
    this.#value = new WatchedValue(context, {
      key,
      path,
      what: 'shared count',
      codec: CODEC,
      seed,
    });
  }

  /** Number seen last; the seed before `start`. */
  get count(): number {
    return this.#value.value;
  }

  /** The same, with its version, for `trySetCount`. */
  get versionedCount(): VersionedValue<number> {
    return this.#value.versioned;
  }

  /**
   * Reads the number, creates it if missing, and keeps up with its changes until `close`.
   *
   * Rejects with `LockKeyError` when something else is stored there, with `LockConnectionError` when there is no answer
   * within the client's `connectTimeout`, with `SharedValueClosedError` after `close`.
   */
  start(): Promise<void> {
    return this.#value.start();
  }

  /** Sets the number unconditionally. Rejects with `LockOptionsError`, otherwise as `start` does. */
  async setCount(count: number): Promise<void> {
    this.#check('count', count);
    await this.#value.set(count);
  }

  /**
   * Sets the number unless it was set or removed since it was seen last. In that case it resolves to false, and `count` is the
   * current number.
   *
   * Rejects as `setCount` does, with `ZooKeeperError` when the connection was lost on the way (it may be set or not), or when busy servers
   * have refused it for the `connectTimeout`, and with `LockKeyError` at one of 2^32 versions: see {@link VersionedValue}.
   *
   * @param previous from `versionedCount`: sets the number only if this is still what was seen last
   */
  async trySetCount(count: number, previous?: VersionedValue<number>): Promise<boolean> {
    this.#check('count', count);
    if (previous !== undefined) this.#check('previous', previous.value);
    return await this.#value.trySet(count, previous);
  }

  onChange(listener: (count: number) => void): () => void {
    return this.#value.onChange(listener);
  }

  /** Stops the updates; `count` keeps its last value. Idempotent. */
  close(): void {
    this.#value.close();
  }
}

/** @throws LockOptionsError unless `value` is a 32-bit integer */
export function checkInt32(option: string, value: unknown, context: LockErrorContext): void {
  if (Number.isInteger(value) && (value as number) === ((value as number) | 0)) return;
  throw new LockOptionsError(option, value, 'a whole number from -2^31 to 2^31 - 1', context);
}
