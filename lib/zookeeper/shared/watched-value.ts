import type { Timer } from '../../core/clock.js';
import {
  LockClientClosedError,
  LockKeyError,
  SharedValueClosedError,
} from '../../core/errors/index.js';
import { Listeners } from '../../core/internal/listeners.js';
import type { Session } from '../connection/session.js';
import type { Stat } from '../connection/zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import type { LockSettings } from '../lock-path.js';
import { afterTransient } from '../nodes/node-requests.js';
import { resendWhileBusy } from '../nodes/resend-while-busy.js';
import { createIfMissing } from '../nodes/retry-loop.js';
import type { RecipeContext } from '../recipe-context.js';

/** Pause before it is read again when the servers have refused that, in ms. */
const REFUSED_PAUSE = 5_000;

/** A value as it was at some time, which a set may be made to depend on. */
export interface VersionedValue<T> {
  readonly value: T;
  /** Number of changes to the node; wraps around from 2^31 - 1 to -2^31. It is -1 before the first read of the value. */
  readonly version: number;
  /** Id of the transaction that wrote the value; grows with every change. It is -1 before the first read of the value. */
  readonly zxid: number;
}

/** Conversion between a value and the bytes of a node. */
export interface ValueCodec<T> {
  encode(value: T): Buffer;
  /** Returns a value that shares no memory with the bytes, or `undefined` if they do not represent one. */
  decode(bytes: Buffer): T | undefined;
}

/** Settings of a {@link WatchedValue}. */
interface WatchedValueSettings<T> extends LockSettings {
  /** Kind of the value, as shown in messages. */
  readonly what: string;
  readonly codec: ValueCodec<T>;
  /** Initial value if there is none yet. */
  readonly seed: T;
}

/**
 * The data of a persistent node, as a value that all clients see and may change; the basis of shared counts and shared values.
 *
 * Invariant: the value seen last is never older than one seen before in its session, by the transaction that wrote it: versions may
 * wrap around (CURATOR-688), and restart with the node. The first value of a session counts in any case: its server has been in sync
 * with the leader since the session began, and transactions start anew on servers that were restored from a backup, or emptied.
 */
export class WatchedValue<T> {
  readonly #seed: Buffer;
  #bytes: Buffer;
  #version = -1;
  #zxid = -1;
  /** In which the value was seen last. */
  #session: Session | undefined;
  #isClosed = false;
  /** Whether the servers have refused the last read after a change. */
  #isRefused = false;
  /** Until the next one after that. */
  #pause: { readonly timer: Timer; readonly stopListening: () => void } | undefined;
  readonly #listeners: Listeners<[]>;

  constructor(
    private readonly context: RecipeContext,
    private readonly settings: WatchedValueSettings<T>,
  ) {
    const { what, key, codec, seed } = settings;
    this.#seed = this.#bytes = codec.encode(seed);
    this.#listeners = new Listeners(`the ${what} "${key}"`);
  }

  /** Value seen last; the seed before `start`. */
  get value(): T {
    return this.settings.codec.decode(this.#bytes)!; // only bytes that decode are kept
  }

  get versioned(): VersionedValue<T> {
    return { value: this.value, version: this.#version, zxid: this.#zxid };
  }

  /** Reads the value, creates it if missing, and keeps up with its changes until `close`. */
  async start(): Promise<void> {
    this.#throwIfClosed();
    await this.#refresh();
  }

  async set(value: T): Promise<void> {
    this.#throwIfClosed();
    const { connection } = this.context;
    const { codec, path } = this.settings;
    const bytes = codec.encode(value);
    await createIfMissing(this.context, this.settings, bytes, async () => {
      const { session } = connection;
      this.#take(bytes, await connection.setData(path, bytes), session);
    });
  }

  /**
   * Sets the value if it was neither set nor removed since it was seen last, and if that was `previous`. Resolves to false
   * otherwise: `value` is then the current one, as far as it is known.
   */
  async trySet(value: T, previous?: VersionedValue<T>): Promise<boolean> {
    this.#throwIfClosed();
    const { context, settings } = this;
    const { connection, client } = context;
    const { key, path } = settings;
    const bytes = settings.codec.encode(value);
    if (this.#zxid < 0) {
      await this.#refresh();
      if (!this.#bytes.equals(this.#seed)) return false; // until now, the caller knew only the seed
    }
    if (previous !== undefined && !this.#wasLast(previous)) return false;
    const version = this.#version;
    if (version === -1) throw anyVersionError(settings, client);
    if (connection.state === 'CLOSED') throw new LockClientClosedError({ key, client });
    try {
      await resendWhileBusy(context, key, async () => {
        const { session } = connection;
        this.#take(bytes, await connection.setData(path, bytes, version), session);
      });
      return true;
    } catch (error) {
      const isChanged = ZooKeeperError.is(error, ReturnCode.BADVERSION);
      if (!isChanged && !ZooKeeperError.is(error, ReturnCode.NONODE)) throw error;
      await this.#refresh();
      return false;
    }
  }

  /** Calls `listener` when the value has changed; the returned function removes the listener. */
  onChange(listener: (value: T) => unknown): () => void {
    return this.#listeners.add(() => listener(this.value)); // each listener gets its own copy
  }

  /** Stops the updates. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#endPause();
    this.context.connection.unwatch(this.settings.path, this.#hear);
  }

  #throwIfClosed(): void {
    const { what, key } = this.settings;
    if (this.#isClosed)
      throw new SharedValueClosedError(what, { key, client: this.context.client });
  }

  #wasLast({ value, version, zxid }: VersionedValue<T>): boolean {
    const isLast = zxid === this.#zxid && version === this.#version;
    return isLast && this.settings.codec.encode(value).equals(this.#bytes);
  }

  readonly #hear = (): void => void this.#keepUp();

  /** Reads the value again, across lost connections. If it was removed, the last value stays until there is another. */
  async #keepUp(): Promise<void> {
    const { connection } = this.context;
    this.#endPause();
    while (!this.#isClosed && connection.state !== 'CLOSED') {
      try {
        if (await connection.exists(this.settings.path, this.#hear)) await this.#read();
        this.#isRefused = false;
        return;
      } catch (error) {
        if (ZooKeeperError.is(error, ReturnCode.NONODE)) continue;
        if (!(error instanceof ZooKeeperError)) return process.emitWarning(String(error));
        if (!error.isTransient) return this.#refused(error);
        await afterTransient(this.context, error);
      }
    }
  }

  /** Reads again later: no event follows when the servers would not refuse it any more. */
  #refused(error: ZooKeeperError): void {
    if (this.#isClosed) return;
    const { connection, clock } = this.context;
    if (!this.#isRefused) process.emitWarning(String(error));
    this.#isRefused = true;
    this.#endPause();
    const timer = clock.setTimer(this.#hear, REFUSED_PAUSE, true);
    this.#pause = { timer, stopListening: connection.onStateChange(this.#hear) };
  }

  #endPause(): void {
    this.#pause?.timer.cancel();
    this.#pause?.stopListening();
    this.#pause = undefined;
  }

  #refresh(): Promise<void> {
    return createIfMissing(this.context, this.settings, this.#seed, () => this.#read());
  }

  async #read(): Promise<void> {
    const { context, settings } = this;
    const watcher = this.#isClosed ? undefined : this.#hear;
    const { session } = context.connection;
    const { data, stat } = await context.connection.getData(settings.path, watcher);
    if (settings.codec.decode(data) === undefined)
      throw noNumberError(settings, context.client, data);
    this.#take(data, stat, session);
  }

  #take(bytes: Buffer, { mzxid, version }: Stat, session: Session | undefined): void {
    if (mzxid <= this.#zxid && session === this.#session) return;
    this.#session = session;
    this.#zxid = mzxid;
    this.#version = version;
    if (bytes.equals(this.#bytes)) return;
    this.#bytes = bytes;
    if (!this.#isClosed) this.#listeners.tell();
  }
}

/** Creates the error for a node that holds something other than the expected number. */
export function noNumberError(
  { key, path }: LockSettings,
  client: string,
  bytes: Buffer,
): LockKeyError {
  return new LockKeyError(key, `${path} holds ${bytes.length} bytes and no number`, { client });
}

/**
 * Creates the error for a node that was changed 2^32 - 1 times, so that its version is -1: in a request that means any version
 * (ZOOKEEPER-4743), and a set would not depend on what was seen.
 */
export function anyVersionError({ key, path }: LockSettings, client: string): LockKeyError {
  const why = `the version of ${path} has wrapped around to -1, which the servers take for any version; set the value once unconditionally, and the version goes on`;
  return new LockKeyError(key, why, { client });
}
