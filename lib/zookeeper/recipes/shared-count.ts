import { LockKeyError, LockOptionsError } from '../../core/errors/index.js';
import { CreateMode } from '../connection/create-mode.js';
import { ReturnCode } from '../connection/return-code.js';
import type { Stat } from '../connection/stat.js';
import { parentPath } from '../connection/znode-path.js';
import { ZooKeeperError } from '../connection/zookeeper-error.js';
import type { LockSettings } from './lock-settings.js';
import { nextStateChange } from './next-state-change.js';
import type { RecipeContext } from './recipe-context.js';
import type { SharedCountReader } from './shared-count-reader.js';
import { untilAnswered } from './until-answered.js';

const BYTES = 4;

/**
 * A 32-bit number that everybody sees and may change, compatible on the wire with Curator's class of that name. It stays
 * when nobody uses it.
 *
 * `count` is what was seen last: a change is told within the time of a message, or after the next reconnect.
 */
export class SharedCount implements SharedCountReader {
  readonly key: string;
  /** Path of the node. */
  readonly path: string;
  #count: number;
  #version = -1;
  /** The transaction that made the value: versions may wrap around, and begin anew with the node. */
  #mzxid = -1;
  #isClosed = false;
  readonly #listeners = new Set<(count: number) => void>();

  /** @param seed the number it begins with where there is none yet */
  constructor(
    private readonly context: RecipeContext,
    { key, path }: LockSettings,
    private readonly seed: number,
  ) {
    this.key = key;
    this.path = path;
    this.#check('seed', seed);
    this.#count = seed;
  }

  /** What was seen last; the seed before `start`. */
  get count(): number {
    return this.#count;
  }

  /**
   * Reads the number, makes it where it is missing, and keeps up with it until `close`.
   *
   * Rejects with `LockKeyError` when something else is stored there, with `LockConnectionError` when there is no answer
   * within the client's `connectTimeout`.
   */
  async start(): Promise<void> {
    this.#isClosed = false;
    await this.#orMake(this.seed, () => this.#read());
  }

  /** Sets it, whatever it is now. Rejects with `LockOptionsError`, otherwise as `start` does. */
  async setCount(count: number): Promise<void> {
    this.#check('count', count);
    const { connection } = this.context;
    const stat = await this.#orMake(count, () => connection.setData(this.path, bytesOf(count)));
    this.#take(count, stat);
  }

  /**
   * Sets it if nobody has since it was seen last. Resolves to false when somebody has, or has removed it: `count` is then
   * what it is now.
   *
   * Rejects as `setCount` does, and with `ZooKeeperError` when the connection was lost on the way: it may be set or not.
   */
  async trySetCount(count: number): Promise<boolean> {
    this.#check('count', count);
    if (this.#mzxid < 0) {
      await this.start();
      if (this.#count !== this.seed) return false; // until now, the seed was all that the caller knew
    }
    try {
      const { connection } = this.context;
      this.#take(count, await connection.setData(this.path, bytesOf(count), this.#version));
      return true;
    } catch (error) {
      const isChanged = ZooKeeperError.is(error, ReturnCode.BADVERSION);
      if (!isChanged && !ZooKeeperError.is(error, ReturnCode.NONODE)) throw error;
      await this.start();
      return false;
    }
  }

  onChange(listener: (count: number) => void): () => void {
    const entry = (count: number) => listener(count);
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  /** Keeps up no longer. */
  close(): void {
    this.#isClosed = true;
    this.context.connection.unwatch(this.path, this.#hear);
  }

  readonly #hear = (): void => void this.#keepUp();

  /** Reads it again, over lost connections. Where it was removed, the last number stays until there is another. */
  async #keepUp(): Promise<void> {
    const { connection } = this.context;
    while (!this.#isClosed && connection.state !== 'CLOSED') {
      try {
        if (await connection.exists(this.path, this.#hear)) await this.#read();
        return;
      } catch (error) {
        const isLoss = error instanceof ZooKeeperError && error.isConnectionLoss;
        const isGone = ZooKeeperError.is(error, ReturnCode.NONODE);
        if (!isLoss && !isGone) return process.emitWarning(String(error));
        if (!connection.isConnected) await nextStateChange(connection).changed;
      }
    }
  }

  async #read(): Promise<void> {
    const { data, stat } = await this.context.connection.getData(this.path, this.#hear);
    if (data.length !== BYTES)
      throw new LockKeyError(this.key, `${this.path} holds ${data.length} bytes and no number`, {
        client: this.context.client,
      });
    this.#take(data.readInt32BE(), stat);
  }

  #take(count: number, { mzxid, version }: Stat): void {
    if (mzxid <= this.#mzxid) return;
    this.#mzxid = mzxid;
    this.#version = version;
    if (count === this.#count) return;
    this.#count = count;
    for (const tell of [...this.#listeners]) {
      try {
        tell(count);
      } catch (error) {
        process.emitWarning(`A listener of the shared count "${this.key}" threw: ${String(error)}`);
      }
    }
  }

  /** Sends a request about the node, and makes that where it is missing. */
  #orMake<T>(count: number, send: () => Promise<T>): Promise<T> {
    const { connection, parents } = this.context;
    return untilAnswered(this.context, this.key, async () => {
      for (;;) {
        try {
          return await send();
        } catch (error) {
          if (!ZooKeeperError.is(error, ReturnCode.NONODE)) throw error;
        }
        try {
          await parents.make(parentPath(this.path));
          await connection.create(this.path, bytesOf(count), CreateMode.PERSISTENT);
        } catch (error) {
          const codes: number[] = [ReturnCode.NODEEXISTS, ReturnCode.NONODE]; // made, or its parent removed, meanwhile
          if (!(error instanceof ZooKeeperError) || !codes.includes(error.rc)) throw error;
        }
      }
    });
  }

  #check(option: string, count: unknown): void {
    if (Number.isInteger(count) && (count as number) === ((count as number) | 0)) return;
    const { client } = this.context;
    const expected = 'a whole number from -2^31 to 2^31 - 1';
    throw new LockOptionsError(option, count, expected, { key: this.key, client });
  }
}

function bytesOf(count: number): Buffer {
  const bytes = Buffer.alloc(BYTES);
  bytes.writeInt32BE(count);
  return bytes;
}
