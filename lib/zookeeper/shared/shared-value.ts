import { type LockErrorContext, LockOptionsError } from '../../core/errors/index.js';
import type { LockSettings } from '../lock-path.js';
import type { RecipeContext } from '../recipe-context.js';
import { WatchedValue, type ValueCodec, type VersionedValue } from './watched-value.js';

/** A little below what the servers accept in one request by default; they hang up on whoever sends more. */
const MOST = 1_000_000;

/** A copy of the bytes. @throws LockOptionsError when there are too many, or it is something else */
export function valueBytes(option: string, value: unknown, context: LockErrorContext): Buffer {
  const isBytes = value instanceof Uint8Array;
  if (isBytes && value.length <= MOST) return Buffer.from(value);
  const shown = isBytes ? `${value.length} bytes` : value;
  throw new LockOptionsError(option, shown, 'a Uint8Array of up to 1,000,000 bytes', context);
}

const CODEC: ValueCodec<Buffer> = {
  encode: (bytes) => bytes,
  decode: (bytes) => Buffer.from(bytes),
};

/**
 * Up to 1,000,000 bytes that everybody sees and may change, compatible on the wire with Curator's class of that name. They
 * stay when nobody uses them.
 *
 * `value` is what was seen last: a change is told within the time of a message, or after the next reconnect. Whatever is given
 * or got is copied.
 */
export class SharedValue {
  readonly key: string;
  /** Path of the node. */
  readonly path: string;
  readonly #value: WatchedValue<Buffer>;
  readonly #bytes: (option: string, value: unknown) => Buffer;

  /** @param seed what it begins with where there is nothing yet */
  constructor(context: RecipeContext, { key, path }: LockSettings, seed: Uint8Array) {
    this.key = key;
    this.path = path;
    this.#bytes = (option, value) => valueBytes(option, value, { key, client: context.client });
    this.#value = new WatchedValue(context, {
      key,
      path,
      what: 'shared value',
      codec: CODEC,
      seed: this.#bytes('seed', seed),
    });
  }

  /** What was seen last; the seed before `start`. */
  get value(): Buffer {
    return this.#value.value;
  }

  /** The same, with its version, for `trySetValue`. */
  get versionedValue(): VersionedValue<Buffer> {
    return this.#value.versioned;
  }

  /**
   * Reads the value, makes it where it is missing, and keeps up with it until `close`.
   *
   * Rejects with `LockConnectionError` when there is no answer within the client's `connectTimeout`, with
   * `SharedValueClosedError` after `close`.
   */
  start(): Promise<void> {
    return this.#value.start();
  }

  /** Sets it, whatever it is now. Rejects with `LockOptionsError`, otherwise as `start` does. */
  async setValue(value: Uint8Array): Promise<void> {
    await this.#value.set(this.#bytes('value', value));
  }

  /**
   * Sets it if nobody has since it was seen last. Resolves to false when somebody has, or has removed it: `value` is then
   * what it is now.
   *
   * Rejects as `setValue` does, and with `ZooKeeperError` when the connection was lost on the way: it may be set or not. So
   * it does with `LockKeyError` at one of 2^32 versions: see {@link VersionedValue}.
   *
   * @param previous from `versionedValue`: sets it only if that is still what was seen last
   */
  async trySetValue(value: Uint8Array, previous?: VersionedValue<Uint8Array>): Promise<boolean> {
    const bytes = this.#bytes('value', value);
    if (previous === undefined) return await this.#value.trySet(bytes);
    const { version, zxid } = previous;
    const seen = { value: this.#bytes('previous', previous.value), version, zxid };
    return await this.#value.trySet(bytes, seen);
  }

  /** Calls `listener` when it has changed; the returned function stops that. */
  onChange(listener: (value: Buffer) => void): () => void {
    return this.#value.onChange(listener);
  }

  /** Keeps up no longer; `value` stays what it was. Idempotent. */
  close(): void {
    this.#value.close();
  }
}
