import type { ReadWriteLock } from '../../core/lock.js';
import type { LockName } from '../connection/lock-name.js';
import { readWriteForceUnlock } from '../scripts/read-write-force-unlock.js';
import { BaseLock } from './base-lock.js';
import { holdersOf } from './holders-of.js';
import type { LockCommands } from './lock-commands.js';
import type { LockHolder } from './lock-holder.js';
import { readCommands } from './read-commands.js';
import type { RecipeContext } from './recipe-context.js';
import { RedisReadLock } from './redis-read-lock.js';
import { RedisWriteLock } from './redis-write-lock.js';
import { Requests } from './requests.js';
import type { SharedToken } from './shared-token.js';
import { writeCommands } from './write-commands.js';

/**
 * A reentrant read/write lock on Redis, compatible on the wire with Redisson's `RReadWriteLock`. It is not fair: while
 * there are readers, more of them come in, unless writers are preferred; Redisson's readers do not respect that.
 */
export class RedisReadWriteLock implements ReadWriteLock {
  readonly #reader: BaseLock;
  readonly #writer: BaseLock;
  readonly #readLock: RedisReadLock;
  readonly #writeLock: RedisWriteLock;

  /** @param preferWriters do readers of this library wait for a writer of this library that waits? */
  constructor(
    private readonly context: RecipeContext,
    private readonly name: LockName,
    readonly key: string,
    preferWriters: boolean,
  ) {
    const base = (recipe: 'readLock' | 'writeLock', commands: LockCommands, token?: SharedToken) =>
      new BaseLock(context, { key, recipe, commands, token });
    this.#reader = base('readLock', readCommands(context, name, preferWriters));
    this.#writer = base('writeLock', writeCommands(context, name, preferWriters));
    this.#readLock = new RedisReadLock(this.#reader, this.#writer, ({ field, token }) =>
      base('readLock', readCommands(context, name, preferWriters, String(field)), token),
    );
    this.#writeLock = new RedisWriteLock(this.#writer, this.#reader);
  }

  readLock(): RedisReadLock {
    return this.#readLock;
  }

  writeLock(): RedisWriteLock {
    return this.#writeLock;
  }

  /** Who holds it. Rejects as ioredis does. */
  holders(): Promise<LockHolder[]> {
    return holdersOf(this.context.connection, this.name);
  }

  /**
   * Takes it from all who hold it in that mode, for an operator; resolves to whether anybody did. Holders of this library
   * are told at their next renewal.
   *
   * Rejects as ioredis does.
   */
  async forceUnlock(mode: 'read' | 'write'): Promise<boolean> {
    const { publishCommand } = this.context.connection;
    const { raw, readWriteChannel } = this.name;
    const requests = new Requests(this.context, this.name, this.#reader.about);
    const args = [publishCommand, readWriteChannel, mode];
    const found = await requests.run(readWriteForceUnlock, [raw], args);
    if (found === 1)
      (mode === 'write' ? this.#writer : this.#reader).loseHold('it was unlocked by force');
    return found === 1;
  }
}
