import { BarrierStateError } from '../../core/errors/index.js';
import { runWait } from '../../core/internal/acquire.js';
import { validateAcquireOptions, validatePermits } from '../../core/internal/validation.js';
import type { AcquireOptions } from '../../core/lock.js';
import type { LockSettings } from '../lock-path.js';
import { type RetryBounds, RetryLoop } from '../nodes/retry-loop.js';
import type { RecipeContext } from '../recipe-context.js';
import { BarrierDeparture } from './double-barrier-departure.js';
import { BarrierEntry } from './double-barrier-entry.js';
import { BarrierDirectory, BarrierMember } from './double-barrier-nodes.js';

type WaitOptions = Pick<AcquireOptions, 'wait' | 'signal'>;

/**
 * Lets `memberQty` members begin together, and end together; wire-compatible with Curator's class of that name.
 *
 * One object is one member; a process may have several. The barrier may be entered again after it was left, any number of
 * times, also by the same members at once. More than `memberQty` members may arrive: a member that arrives while the barrier
 * is open enters at once, and all members that are inside are waited for at the end.
 */
export class DistributedDoubleBarrier {
  readonly key: string;
  /** Directory of the members. */
  readonly path: string;
  readonly #directory: BarrierDirectory;
  #place: 'is outside' | 'is entering already' | 'is inside already' | 'is leaving already' =
    'is outside';
  /** Node of this member while it is not outside. */
  #member?: BarrierMember;
  /** Nodes of this member that may still exist, although it is outside. */
  readonly #remains: BarrierMember[] = [];

  /**
   * @param memberQty number of members that have to arrive; an integer of at least 1
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
   * Resolves when `memberQty` members have arrived, including this one. If the session is lost meanwhile, this member arrives
   * again in the next one.
   *
   * Curator's `enter` returns false on timeout and stays a member; this one rejects and is no longer a member. The others may
   * just have counted it, as with a member that crashes at that moment.
   *
   * Rejects with `LockTimeoutError`, `LockAbortedError`, `LockClientClosedError`; with `LockConnectionError` when the servers
   * reject a request or the retry policy gives up; with `BarrierStateError` when this member is not outside; with
   * `LockOptionsError` for invalid options.
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
   * Resolves when all members that are inside have left, too. Call it when the work is done: from then on no member waits for
   * this one, even if the call rejects, and the barrier may be entered again.
   *
   * Rejects with `LockLostError` when this member was no longer inside, because its session ended or its node was deleted: the
   * others may have left without waiting for it. A loss of the session after that check does no harm. Otherwise it rejects as
   * `enter` does, where Curator's `leave` returns false; with `BarrierStateError` when this member is not inside.
   *
   * @param options as for `enter`
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

  /** Runs `work`; after any failure the node of the member is removed in the background. */
  async #run(
    { wait = this.context.wait, signal }: WaitOptions,
    member: BarrierMember,
    work: (bounds: RetryBounds) => Promise<void>,
  ): Promise<void> {
    const { retryPolicy, removals } = this.context;
    const isInside = this.#place === 'is leaving already'; // leaving is allowed while the client shuts down
    const request = { key: this.key, options: { wait, signal }, isInside };
    await runWait(this.context, request, async (scope) => {
      const retry = new RetryLoop(retryPolicy, scope, this.#about);
      const bounds: RetryBounds = { wait: scope, retry };
      try {
        await work(bounds);
      } catch (error) {
        this.#remains.push(member);
        void removals.remove(member);
        if (!member.isMade) bounds.discardMade?.();
        throw error;
      }
    });
  }
}
