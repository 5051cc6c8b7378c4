import { randomUUID } from 'node:crypto';
import { LockKeyError } from '../../core/errors/index.js';
import { runWait } from '../../core/internal/acquire.js';
import { validateAcquireOptions } from '../../core/internal/validation.js';
import type { WaitScope } from '../../core/internal/wait-scope.js';
import {
  FARTHEST_AHEAD,
  type OccurrenceMark,
  type OccurrenceMarkOptions,
  tooFarAhead,
} from '../../core/occurrence-mark.js';
import { ZooKeeperError } from '../connection/zookeeper-error.js';
import type { LockSettings } from '../lock-path.js';
import type { RecipeContext } from '../recipe-context.js';
import { AtomicNode, type SeenNode } from './atomic-node.js';

const EMPTY = Buffer.alloc(0);
/** Pause after a change that was overtaken or not answered, in ms. */
const PAUSE = 20;

/** Data of the node: the occurrence, and the request that has raised the mark to it. */
interface Mark {
  readonly occurrence: number;
  readonly request: string;
}

/** Time of the last change by the clock of the servers; the embedded tree has that of this process. */
const changedAt = (seen: SeenNode) => seen?.stat.mtime?.getTime() ?? Date.now();

/**
 * The mark of a job in a persistent node beside its lock, changed by compare-and-set.
 *
 * A mark may be ahead of the time of the servers because their clock, or the one of the process that raised it, was set back
 * since; if it is too far ahead, it counts as none. Only a change shows the time of the servers, so the mark is written as it
 * is before it is raised.
 */
export class ZooKeeperOccurrenceMark implements OccurrenceMark {
  readonly #node: AtomicNode;
  readonly #path: string;

  /** @param lock settings of the lock */
  constructor(
    private readonly context: RecipeContext,
    private readonly lock: LockSettings,
  ) {
    this.#path = `${lock.path}@occurrence`; // no key is encoded to a name with this sign
    this.#node = new AtomicNode(context, { key: lock.key, path: this.#path });
  }

  isReached(occurrence: number, options: OccurrenceMarkOptions = {}): Promise<boolean> {
    return this.#run(options, async (wait) => {
      const mark = this.#parse(await wait.until(this.#node.read()));
      return isReached(mark, occurrence, Date.now());
    });
  }

  raise(occurrence: number, options: OccurrenceMarkOptions = {}): Promise<boolean> {
    const request = randomUUID();
    return this.#run(options, async (wait) => {
      for (;;) {
        const outcome = await wait.until(this.#tryToRaise({ occurrence, request }));
        if (outcome !== undefined) return outcome;
        await wait.sleep(PAUSE);
      }
    });
  }

  /** Resolves to `undefined` if another change came first, or it is unknown whether this one was made: then try again. */
  async #tryToRaise({ occurrence, request }: Mark): Promise<boolean | undefined> {
    const found = await this.#node.read();
    const mark = this.#parse(found);
    if (mark?.request === request) return true; // by an earlier try, whose answer was lost
    if (isReached(mark, occurrence, Date.now())) return false;
    if (!(await this.#replace(found, found?.data ?? EMPTY))) return undefined;
    const seen = await this.#node.read();
    const now = changedAt(seen);
    if (isReached(this.#parse(seen), occurrence, now)) return false;
    if (occurrence > now + FARTHEST_AHEAD)
      throw tooFarAhead(occurrence, this.lock.key, this.context.client);
    const bytes = Buffer.from(JSON.stringify({ occurrence, request }));
    return (await this.#replace(seen, bytes)) ? true : undefined;
  }

  /** Resolves to false also if it is unknown whether the change was made: a copy of it that arrives late does no harm. */
  async #replace(seen: SeenNode, bytes: Buffer): Promise<boolean> {
    try {
      return await this.#node.replace(seen, bytes);
    } catch (error) {
      if (error instanceof ZooKeeperError && error.isTransient) return false;
      throw error;
    }
  }

  #run<T>(options: OccurrenceMarkOptions, work: (wait: WaitScope) => Promise<T>): Promise<T> {
    const { key } = this.lock;
    const { client, connectTimeout } = this.context;
    validateAcquireOptions(options, { key, client });
    return runWait(this.context, { key, options, wait: connectTimeout }, work);
  }

  #parse(seen: SeenNode): Mark | undefined {
    if (seen === undefined || seen.data.length === 0) return undefined;
    try {
      const mark = JSON.parse(seen.data.toString()) as Mark | null;
      if (Number.isInteger(mark?.occurrence)) return mark!;
    } catch {
      // it is not JSON
    }
    const why = `the node ${this.#path} holds something other than the latest occurrence of a job`;
    throw new LockKeyError(this.lock.key, why, { client: this.context.client });
  }
}

function isReached(mark: Mark | undefined, occurrence: number, now: number): boolean {
  return (
    mark !== undefined && mark.occurrence >= occurrence && mark.occurrence <= now + FARTHEST_AHEAD
  );
}
