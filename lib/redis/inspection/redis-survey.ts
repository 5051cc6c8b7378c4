import type {
  KnownLocks,
  LockSurvey,
  ReportExchange,
  SurveyedLock,
} from '../../core/lock-inspection.js';
import { placedActivityOf, type PlacedActivity } from '../../core/internal/client-activity.js';
import { LockName } from '../connection/lock-name.js';
import type { RecipeContext } from '../recipes/recipe-context.js';
import { expectReady } from './expect-ready.js';
import { FoundLocks } from './found-locks.js';
import { forceRelease } from './force-release.js';
import { readLockKey } from './read-lock-key.js';
import { RedisExchange } from './redis-exchange.js';

/** What one Redis, or a cluster, tells of the locks that somebody knows of, and of those that a scan finds. */
export class RedisSurvey implements LockSurvey {
  readonly #scan: FoundLocks;
  #found = new Set<string>();

  constructor(
    private readonly context: RecipeContext,
    private readonly prefix: string,
  ) {
    this.#scan = new FoundLocks(context.connection, prefix);
  }

  nameOf(key: string): string {
    return this.prefix + key;
  }

  keyOf(name: string): string {
    return name.slice(this.prefix.length);
  }

  activity(): PlacedActivity[] {
    return placedActivityOf(this.context);
  }

  async locks({
    names,
    limit,
    scan,
  }: KnownLocks): Promise<{ locks: SurveyedLock[]; omitted: number }> {
    const { connection } = this.context;
    expectReady(this.context);
    const all = [...new Set([...names, ...this.#found, ...(await this.#scan.next(scan))])];
    const read = all.slice(0, limit).map((name) => readLockKey(connection, new LockName(name)));
    const locks = (await Promise.all(read)).filter((lock) => lock !== undefined);
    this.#found = new Set(locks.map(({ name }) => name));
    return { locks, omitted: Math.max(0, all.length - limit) };
  }

  /** A holder of another process learns of it at its next renewal. */
  release(name: string, ids: readonly string[]): Promise<boolean> {
    return forceRelease(this.context, new LockName(name), ids);
  }

  exchange(): ReportExchange {
    return new RedisExchange(this.context, this.prefix);
  }
}
