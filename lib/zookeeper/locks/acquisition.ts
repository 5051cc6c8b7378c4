import { type AcquireRequest, runAcquire } from '../../core/internal/acquire.js';
import type { WaitScope } from '../../core/internal/wait-scope.js';
import type { LockHolder } from '../../core/lock-holder.js';
import { type RetryBounds, RetryLoop } from '../nodes/retry-loop.js';
import type { RecipeContext } from '../recipe-context.js';

/**
 * One acquire under way, of any recipe. A class, as each object literal with a getter has a hidden class of its own, in the old
 * generation: all that the getter refers to would be garbage until a full collection.
 */
export class Acquisition implements RetryBounds {
  /** The holder, while our own node is the next in the queue. */
  holder?: LockHolder | undefined;
  made?: string[] | undefined;
  discardMade?: (() => void) | undefined;
  #retry?: RetryLoop | undefined;

  constructor(
    private readonly context: RecipeContext,
    private readonly request: AcquireRequest,
    readonly wait: WaitScope,
  ) {}

  /** False if the acquire resolves without the lock instead of waiting for others. */
  get mayWait(): boolean {
    return this.request.mayWait;
  }

  /** Name of the caller, for operators (see `AcquireOptions.method`). */
  get method(): string | undefined {
    return this.request.options.method;
  }

  get retry(): RetryLoop {
    const { client, retryPolicy } = this.context;
    return (this.#retry ??= new RetryLoop(retryPolicy, this.wait, {
      key: this.request.key,
      client,
    }));
  }

  /** Called when the servers have answered, and a node was created: the next failure starts a new series of retries. */
  answered(): void {
    this.#retry = undefined;
    this.made = this.discardMade = undefined; // a directory that had a child is collected by the servers
  }
}

/**
 * Runs `work` as an acquire and emits its events; settles as `work` does.
 *
 * @param work resolves to the grant, or to `undefined` if it would have to wait but may not
 */
export function runAcquisition<T>(
  context: RecipeContext,
  request: AcquireRequest,
  work: (acquisition: Acquisition) => Promise<T | undefined>,
): Promise<T | undefined> {
  return runAcquire(context, request, (wait) => work(new Acquisition(context, request, wait)));
}
