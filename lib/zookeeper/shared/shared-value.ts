import { type LockErrorContext, LockOptionsError } from '../../core/errors/index.js';
import type { LockSettings } from '../lock-path.js';
import type { RecipeContext } from '../recipe-context.js';
import { WatchedValue, type ValueCodec, type VersionedValue } from './watched-value.js';

/** Slightly below the default request limit of the servers, which close the connection of a client that sends more. */
const MOST = 1_000_000;

/** Returns a copy of the bytes. @throws LockOptionsError when there are too many, or `value` is not a `Uint8Array` */
function valueBytes(option: string, value: unknown, context: LockErrorContext): Buffer {
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
 * Up to 1,000,000 bytes that all clients see and may change, wire-compatible with Curator's class of that name. They persist
 * while no client uses them.
 *
 * `value` is what was seen last: a change arrives within the time of a message, or after the next reconnect. All bytes that are
 * passed or returned are copied.
 */
export class SharedValue {
  readonly key: string;
  /** Path of the node. */
  readonly path: string;
  readonly #value: WatchedValue<Buffer>;
  readonly #bytes: (option: string, value: unknown) => Buffer;

  /** @param seed the initial bytes if there are none yet */
  constructor(context: RecipeContext, { key, path }: LockSettings, seed: Uint8Array) {
    this.key = key;
    this.path = path;
    const bytes = (option: string, value: unknown) =>
      valueBytes(option, value, { key, client: context.client });
    this.#bytes = bytes;
    this.#value = new WatchedValue(context, {
      key,
      path,
      what: 'shared value',
      codec: CODEC,
      seed: bytes('seed', seed),
    });
  }

  /** Bytes seen last; the seed before `start`. */
  get value(): Buffer {
    return this.#value.value;
  }

  /** The same, with its version, for `trySetValue`. */
  get versionedValue(): VersionedValue<Buffer> {
    return this.#value.versioned;
  }

  /**
   * Reads the value, creates it if missing, and keeps up with its changes until `close`.
   *
   * Rejects with `LockConnectionError` when there is no answer within the client's `connectTimeout`, with
   * `SharedValueClosedError` after `close`.
   */
  start(): Promise<void> {
    return this.#value.start();
  }

  /** Sets the value unconditionally. Rejects with `LockOptionsError`, otherwise as `start` does. */
  async setValue(value: Uint8Array): Promise<void> {
    await this.#value.set(this.#bytes('value', value));
  }

  /**
   * Sets the value unless it was set or removed since it was seen last. In that case it resolves to false, and `value` is the
   * current one.
   *
   * Rejects as `setValue` does, with `ZooKeeperError` when the connection was lost on the way (it may be set or not), or when busy servers
   * have refused it for the `connectTimeout`, and with `LockKeyError` at one of 2^32 versions: see {@link VersionedValue}.
   *
   * @param previous from `versionedValue`: sets the value only if this is still what was seen last
   */
  async trySetValue(value: Uint8Array, previous?: VersionedValue<Uint8Array>): Promise<boolean> {
    const bytes = this.#bytes('value', value);
    if (previous === undefined) return await this.#value.trySet(bytes);
    const { version, zxid } = previous;
    const seen = { value: this.#bytes('previous', previous.value), version, zxid };
    return await this.#value.trySet(bytes, seen);
  }

  /** Calls `listener` when the value has changed; the returned function removes the listener. */
  onChange(listener: (value: Buffer) => void): () => void {
    return this.#value.onChange(listener);
  }

  /** Stops the updates; `value` keeps its last bytes. Idempotent. */
  close(): void {
    this.#value.close();
  }
}
