import type { Redis } from 'ioredis';
import type { RedisLease } from '../../../lib/redis/locks/redis-lease.js';
import type { CommandLog } from './command-log.js';
import type { Findings } from './findings.js';
import type { PrimaryView } from './primary-view.js';
import type { Recipe } from './recipes.js';

/** A holder that does not act by its lease any more. */
interface Ended {
  readonly key: string;
  readonly holder: string;
  readonly how: 'was released' | 'ran out';
  readonly at: number;
  /** When it was last seen that the server has no such holder. */
  goneAt?: number;
  /** Whether it was seen to hold again at the last look. */
  isBack: boolean;
}

/** Late copies arrive within this time, in ms. */
const WATCHED = 20_000;
const PREFIX_OF_PERMITS = 24;

/**
 * Finds holders that come back: the server has forgotten them, and yet they hold again, although no code acts by their leases.
 */
export class GhostWatch {
  readonly #ended = new Map<string, Ended>();

  constructor(
    private readonly view: PrimaryView,
    private readonly recipes: readonly Recipe[],
    private readonly findings: Findings,
    private readonly log: CommandLog,
  ) {}

  /** From now on no code acts by that lease, and nothing acquires the lock for its holder. */
  ended(lease: RedisLease, how: Ended['how']): void {
    const { key } = lease;
    const holder = lease.permitIds[0]?.slice(0, PREFIX_OF_PERMITS) ?? lease.holder;
    this.#ended.set(`${key} ${holder}`, { key, holder, how, at: performance.now(), isBack: false });
  }

  async look(): Promise<void> {
    const startedAt = performance.now();
    const holders = await this.view.read((redis) => this.#holders(redis));
    if (!holders) return;
    for (const [name, ended] of this.#ended) {
      if (ended.at >= startedAt) continue;
      const isThere = holders.has(name);
      // Seen once, it may be between the copy of its acquire and that of its release, which arrive one after the other.
      const isGhost = isThere && ended.isBack;
      if (isGhost && this.#isKnownToBeOver(ended)) this.#tell(ended);
      if (isGhost || startedAt - ended.at > WATCHED) this.#ended.delete(name);
      ended.isBack = isThere && ended.goneAt !== undefined;
      if (!isThere) ended.goneAt = startedAt;
    }
  }

  /**
   * Whether the server knew of the end of its lease while it was gone. A client that is cut off when a lease runs out leaves the
   * tombstone later: a copy of the acquire that comes before that takes the lock, for one lease.
   */
  #isKnownToBeOver({ how, holder, goneAt }: Ended): boolean {
    return how === 'was released' || this.log.buriedAt(holder) < goneAt!;
  }

  /** `key holder` of all holders. */
  async #holders(redis: Redis): Promise<Set<string>> {
    const found = await Promise.all(
      this.recipes.map(async ({ keys, kind }) => {
        const [key] = keys as [string];
        if (kind === 'permits') {
          const ids = await redis.zrangebyscoreBuffer(`{${key}}:timeout`, Date.now(), '+inf');
          return ids.map((id) => `${key} ${id.toString('hex').slice(0, PREFIX_OF_PERMITS)}`);
        }
        const fields = await Promise.all(keys.map((each) => redis.hkeys(each)));
        return keys.flatMap((each, n) => fields[n]!.map((field) => `${each} ${holderOf(field)}`));
      }),
    );
    return new Set(found.flat());
  }

  #tell({ key, holder, how, at }: Ended): void {
    const ago = Math.round(performance.now() - at);
    const text = `${key}: ${holder} holds again, ${ago} ms after its lease ${how}`;
    const zero = performance.now() - this.findings.now;
    this.findings.add(`ghost of a lease that ${how}`, text, () =>
      this.log.story(key, zero, [holder], 20),
    );
  }
}

/** A writer's field marks it as a writer. */
const holderOf = (field: string) => field.replace(/:write$/, '');
