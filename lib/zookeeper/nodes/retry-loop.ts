import {
  LockConnectionError,
  type LockErrorContext,
  LockTimeoutError,
} from '../../core/errors/index.js';
import { refuseUnlessAccepted } from '../../core/internal/acquire.js';
import { LeaseScope } from '../../core/internal/lease-scope.js';
import { WaitScope } from '../../core/internal/wait-scope.js';
import type { RetryPolicy } from '../connection/retry-policies.js';
import { parentPath } from '../connection/znode-path.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import type { LockSettings } from '../lock-path.js';
import type { RecipeContext } from '../recipe-context.js';
import type { ContainerParents } from './container-parents.js';
import { untilConnected } from './node-requests.js';

/** What to do about a refusal for a reason that is not in the options of the client. */
const ADVICE: Readonly<Record<number, string>> = {
  [ReturnCode.QUOTAEXCEEDED]: 'Raise the quota of that part of the tree, or remove what fills it.',
  [ReturnCode.EPHEMERALONLOCALSESSION]:
    'Set `localSessionsUpgradingEnabled=true` on the servers, as they have `localSessionsEnabled`: a lock needs a session that all of them know.',
};

/** The length of the data may be why the connection was lost in so many writes of more bytes than these. */
const LOST_WRITES = 3;
const SHORT = 16_384;

/** The length of data that was written in vain, if the servers seem to hang up on that; else 0. */
export function refusedBytes(lostWrites: number, bytes: number): number {
  return lostWrites >= LOST_WRITES && bytes > SHORT ? bytes : 0;
}

/** Handles the failed requests of one acquire: sleeps and continues, as the policy allows, or rejects. */
export class RetryLoop {
  /** Number of retries since the last answer of the servers. */
  #retries = 0;
  #failingSince?: number;

  constructor(
    private readonly policy: RetryPolicy,
    private readonly wait: WaitScope,
    private readonly context: LockErrorContext,
  ) {}

  /** Called when the servers have answered: the next failure starts a new series. */
  answered(): void {
    this.#retries = 0;
    this.#failingSince = undefined;
  }

  /**
   * Resolves when the operation may be retried after `error`.
   *
   * Rejects with the error that ended the wait, if it has ended; with `LockConnectionError` if the policy gives up or the
   * servers rejected the request; with `error` itself if it is no `ZooKeeperError`.
   *
   * @param refused length of the data on which the servers seem to hang up, and with it on the session that holds the locks: then
   *   it is not sent again
   */
  async after(error: unknown, refused = 0): Promise<void> {
    this.wait.throwIfEnded();
    if (!(error instanceof ZooKeeperError)) throw error;
    if (!error.isTransient) throw this.#refused(error);
    this.#failingSince ??= this.wait.elapsed;
    const delay = this.policy.nextDelay(this.#retries, this.wait.elapsed - this.#failingSince);
    if (delay === undefined) throw this.#givenUp(error);
    this.#retries += 1;
    if (refused > 0) throw this.#tooLong(error, refused);
    await this.wait.sleep(delay);
  }

  /** The error for a directory with an exhausted counter: new nodes in it cannot be ordered. */
  outOfNumbers(directory: string): LockConnectionError {
    return new LockConnectionError(
      `The ZooKeeper directory ${directory} has used all of its 2^31 sequence numbers, so no client can queue there any more. Delete it while no client holds the lock.`,
      this.context,
    );
  }

  #tooLong(cause: ZooKeeperError, bytes: number): LockConnectionError {
    return new LockConnectionError(
      `The connection to the ZooKeeper servers was lost each time while a node with ${bytes} bytes of data was written. They hang up on a request that is longer than their \`jute.maxbuffer\`: give less \`data\`, or raise that limit.`,
      { ...this.context, cause },
    );
  }

  #refused(cause: ZooKeeperError): LockConnectionError {
    const advice =
      ADVICE[cause.rc] ??
      'Check the options `auth`, `acl` and `basePath` against what is on the servers.';
    return new LockConnectionError(`The ZooKeeper servers refused to ${cause.message}. ${advice}`, {
      ...this.context,
      cause,
    });
  }

  #givenUp(cause: ZooKeeperError): LockConnectionError {
    return new LockConnectionError(
      `The connection to the ZooKeeper servers was lost (${cause.message}) and the retry policy gave up after ${this.#retries} retries. Check the servers, or give a more patient \`retryPolicy\`.`,
      { ...this.context, cause },
    );
  }
}

/** What bounds the retries of one operation. */
export interface RetryBounds {
  /** The events that end it early. */
  readonly wait: WaitScope;
  /** The retries of its failed requests. */
  readonly retry: RetryLoop;
  /** The directories that were made for it, and had no child of it yet. */
  made?: string[] | undefined;
  /** Deletes those; to be called if it is given up without a node. */
  discardMade?: (() => void) | undefined;
}

/**
 * Handles a failed request of an acquire: creates the directory if it is missing; otherwise asks the retry policy.
 *
 * @param refused as in `RetryLoop.after`
 */
export async function createMissingParents(
  error: unknown,
  directory: string,
  parents: ContainerParents,
  bounds: RetryBounds,
  refused = 0,
): Promise<void> {
  const { wait, retry } = bounds;
  if (!ZooKeeperError.is(error, ReturnCode.NONODE)) return await retry.after(error, refused);
  const made = (bounds.made ??= []);
  const making = parents.make(directory, made);
  const discardMade = () => void parents.discard(made, making);
  bounds.discardMade = discardMade;
  try {
    await wait.until(making);
  } catch (failure) {
    if (!ZooKeeperError.is(failure, ReturnCode.NONODE)) await retry.after(failure);
  }
}

/** Operations that carry data. */
const WRITES: readonly string[] = ['create', 'setData'];

/** Return codes if the node was created, or its parent removed, in the meantime. */
const MEANWHILE: readonly number[] = [ReturnCode.NODEEXISTS, ReturnCode.NONODE];

/**
 * Sends a request about a persistent node, one that may be carried out twice, until it is answered; creates the node with
 * `bytes` if it is missing. Rejects as `retryUntilAnswered` does.
 */
export function createIfMissing<T>(
  context: RecipeContext,
  { key, path }: LockSettings,
  bytes: Buffer,
  send: () => Promise<T>,
): Promise<T> {
  const { parents } = context;
  const sendOrCreate = async () => {
    for (;;) {
      await parents.settle(path);
      try {
        return await send();
      } catch (error) {
        if (!ZooKeeperError.is(error, ReturnCode.NONODE)) throw error;
      }
      try {
        await parents.make(parentPath(path));
        await parents.create(path, bytes);
      } catch (error) {
        if (!(error instanceof ZooKeeperError) || !MEANWHILE.includes(error.rc)) throw error;
      }
    }
  };
  return retryUntilAnswered(context, key, sendOrCreate, bytes.length);
}

/**
 * Sends a request that may be carried out twice, and resends it after a transient failure such as a lost connection, until
 * it is answered; settles as the request does.
 *
 * Rejects with `LockConnectionError` when the retry policy gives up or `connectTimeout` has passed, with
 * `LockClientClosedError` when the client closes.
 *
 * @param bytes length of the data, if the request is a write
 */
export async function retryUntilAnswered<T>(
  context: RecipeContext,
  key: string,
  send: () => Promise<T>,
  bytes = 0,
): Promise<T> {
  const { connection, client, clock, waits, connectTimeout, retryPolicy } = context;
  const about = { key, client };
  const isInside = LeaseScope.isInsideLock();
  refuseUnlessAccepted(context, key, isInside);
  const wait = new WaitScope({ ...about, clock, open: waits, isInside }, { wait: connectTimeout });
  const retry = new RetryLoop(retryPolicy, wait, about);
  let lostWrites = 0;
  try {
    for (;;) {
      await untilConnected(connection, wait);
      try {
        return await wait.until(send());
      } catch (error) {
        if (!(error instanceof ZooKeeperError) || !error.isTransient) throw error;
        if (error.maybeDone && WRITES.includes(error.operation)) lostWrites += 1;
        await retry.after(error, refusedBytes(lostWrites, bytes));
      }
    }
  } catch (cause) {
    if (!(cause instanceof LockTimeoutError)) throw cause;
    const trouble = context.trouble();
    const why = trouble ? ` (${trouble.message})` : '';
    throw new LockConnectionError(
      `Lock client "${client}" had no answer about "${key}" within ${connectTimeout} ms${why}. Check that the servers run, or raise \`connectTimeout\`.`,
      { ...about, cause: trouble ?? cause },
    );
  } finally {
    wait.end();
  }
}
