import { LockConnectionError, type LockErrorContext } from '../../core/errors/index.js';
import type { WaitScope } from '../../core/internal/wait-scope.js';
import type { RetryPolicy } from '../connection/retry-policies.js';
import { ZooKeeperError } from '../connection/zookeeper-error.js';

/** One acquire's dealings with failed requests: sleeps and goes on, as the policy allows, or rejects. */
export class RetryLoop {
  /** Since the servers have answered last. */
  #retries = 0;
  #failingSince?: number;

  constructor(
    private readonly policy: RetryPolicy,
    private readonly wait: WaitScope,
    private readonly context: LockErrorContext,
  ) {}

  /** The servers have answered: the next failure is the first of another series. */
  answered(): void {
    this.#retries = 0;
    this.#failingSince = undefined;
  }

  /**
   * Resolves when the operation may be tried again after `error`.
   *
   * Rejects with what ended the wait, if it has ended; with `LockConnectionError` when the policy gives up or the servers
   * refused the request; with `error` itself when it is none of the connection's.
   */
  async after(error: unknown): Promise<void> {
    this.wait.throwIfEnded();
    if (!(error instanceof ZooKeeperError)) throw error;
    if (!error.isTransient) throw this.#refused(error);
    this.#failingSince ??= this.wait.elapsed;
    const delay = this.policy.nextDelay(this.#retries, this.wait.elapsed - this.#failingSince);
    if (delay === undefined) throw this.#givenUp(error);
    this.#retries += 1;
    await this.wait.sleep(delay);
  }

  /** The error for a directory whose counter has come to its end: nothing that is made in it can be put in order. */
  outOfNumbers(directory: string): LockConnectionError {
    return new LockConnectionError(
      `The ZooKeeper directory ${directory} has given out all of its 2^31 numbers, so nobody can queue there any more. Delete it while nobody holds the lock.`,
      this.context,
    );
  }

  #refused(cause: ZooKeeperError): LockConnectionError {
    return new LockConnectionError(
      `The ZooKeeper servers refused to ${cause.message}. Check the options \`auth\`, \`acl\` and \`basePath\` against what is on the servers.`,
      { ...this.context, cause },
    );
  }

  #givenUp(cause: ZooKeeperError): LockConnectionError {
    return new LockConnectionError(
      `The connection to the ZooKeeper servers was lost (${cause.message}) and the retry policy gave up after ${this.#retries} retries. Check the servers, or give a more patient \`retryPolicy\`.`,
      { ...this.context, cause },
    );
  }
}
