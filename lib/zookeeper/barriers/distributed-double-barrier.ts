import { BarrierStateError } from '../../core/errors/index.js';
import { runWait } from '../../core/internal/acquire.js';
import { validateAcquireOptions, validatePermits } from '../../core/internal/validation.js';
import type { AcquireOptions } from '../../core/lock.js';
import type { LockSettings } from '../lock-path.js';
import type { Acquisition } from '../locks/acquisition.js';
import { RetryLoop } from '../nodes/retry-loop.js';
import type { RecipeContext } from '../recipe-context.js';
import { BarrierDeparture } from './double-barrier-departure.js';
import { BarrierEntry } from './double-barrier-entry.js';
import { BarrierDirectory, BarrierMember } from './double-barrier-nodes.js';

type WaitOptions = Pick<AcquireOptions, 'wait' | 'signal'>;

/**
 * Lets so many members begin together, and end together; compatible on the wire with Curator's class of that name.
 *
 * One object is one member; a process may have several. It may be entered again after it was left, again and again, also by
 * the same members at once. More than `memberQty` may come: who comes while it is open goes in at once, and all who are
 * inside are waited for at the end.
 */
export class DistributedDoubleBarrier {
  readonly key: string;
  /** Directory of the members. */
  readonly path: string;
  readonly #directory: BarrierDirectory;
  #place: 'is outside' | 'is entering already' | 'is inside already' | 'is leaving already' =
    'is outside';
  /** Our node while we are not outside. */
  #member?: BarrierMember;
  /** Nodes of ours that may still be there, although we are outside. */
  readonly #remains: BarrierMember[] = [];

  /**
   * @param memberQty how many have to come; a whole number from 1
   * @throws LockOptionsError
   */
  constructor(
    private readonly context: RecipeContext,
    { key, path }: LockSettings,
    private readonly memberQty: number,
  ) {
    this.key = key;
    this.path = path;
    validatePermits(memberQty, this.#about, undefined, 'memberQty');
    this.#directory = new BarrierDirectory(context, path);
  }

  /**
   * Resolves when `memberQty` members have come, this one included. Where the session is lost meanwhile, it comes again in
   * the next one.
   *
   * Curator's `enter` returns false when the time is over, and stays a member; this one rejects, and is none any more. The
   * others may just have counted it, as they may have one that crashes at that moment.
   *
   * Rejects with `LockTimeoutError`, `LockAbortedError`, `LockClientClosedError`; with `LockConnectionError` when the servers
   * refuse or the retry policy gives up; with `BarrierStateError` when it is not outside; with `LockOptionsError`.
   *
   * @param options `wait`: milliseconds, above 0 and finite, or `'forever'`; default: that of the client. `signal`: ends the
   *   wait
   */
  async enter(options: WaitOptions = {}): Promise<void> {
    validateAcquireOptions(options, this.#about);
    if (this.#place !== 'is outside')
      throw new BarrierStateError('entered', this.#place, this.#about);
    const member = (this.#member = new BarrierMember(this.context, this.path));
    this.#place = 'is entering already';
    try {
      const { context, memberQty } = this;
      const plan = { directory: this.#directory, member, remains: this.#remains, memberQty };
      await this.#run(options, member, (bounds) => new BarrierEntry(context, plan, bounds).run());
      this.#place = 'is inside already';
    } catch (error) {
      this.#place = 'is outside';
      throw error;
    }
  }

  /**
   * Resolves when all who are inside have left, too. To be called when the work is done: from then on nobody waits for this
   * member, also when it rejects, and it may be entered again.
   *
   * Rejects with `LockLostError` when it was not inside any more, because its session ended or somebody deleted its node: the
   * others may have left without waiting for it. What happens to its session after that has been looked at does no harm. For
   * the rest it rejects as `enter` does, where Curator's returns false; with `BarrierStateError` when it is not inside.
   *
   * @param options as of `enter`
   */
  async leave(options: WaitOptions = {}): Promise<void> {
    validateAcquireOptions(options, this.#about);
    const member = this.#member;
    if (this.#place !== 'is inside already' || member === undefined)
      throw new BarrierStateError('left', this.#place, this.#about);
    this.#place = 'is leaving already';
    const { connection } = this.context;
    try {
      await this.#run(options, member, (bounds) =>
        new BarrierDeparture(connection, this.#directory, member, bounds, this.#about).run(),
      );
    } finally {
      this.#place = 'is outside';
    }
  }

  get #about() {
    return { key: this.key, client: this.context.client };
  }

  /** Whatever way it goes wrong, the node of the member is removed in the background. */
  async #run(
    { wait = this.context.wait, signal }: WaitOptions,
    member: BarrierMember,
    work: (bounds: Pick<Acquisition, 'wait' | 'retry'>) => Promise<void>,
  ): Promise<void> {
    const { retryPolicy, removals } = this.context;
    const isInside = this.#place === 'is leaving already'; // and may do so while the client shuts down
    const request = { key: this.key, options: { wait, signal }, isInside };
    await runWait(this.context, request, async (scope) => {
      try {
        await work({ wait: scope, retry: new RetryLoop(retryPolicy, scope, this.#about) });
      } catch (error) {
        this.#remains.push(member);
        void removals.remove(member);
        throw error;
      }
    });
  }
}
