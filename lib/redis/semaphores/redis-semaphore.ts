import { runWait } from '../../core/internal/acquire.js';
import { validateAcquireOptions, validatePermits } from '../../core/internal/validation.js';
import type { PermitOptions } from '../../core/lock.js';
import type { RedisArgument } from '../connection/ioredis.js';
import type { LockName } from '../connection/lock-name.js';
import type { AcquireLoop } from '../locks/acquire-loop.js';
import { contend } from '../locks/contend.js';
import { IdempotentRequests } from '../locks/idempotent-requests.js';
import type { AcquireCommands, LockCommands } from '../locks/lock-commands.js';
import { validateLease } from '../locks/redis-lease.js';
import { MEMORY, type RequestNumbers } from '../locks/request-numbers.js';
import type { RecipeContext } from '../recipe-context.js';
import {
  semaphoreAcquire,
  semaphoreChange,
  semaphoreCount,
  semaphoreUndo,
} from '../scripts/index.js';

/** A waiter looks after so many ms, whether or not it was woken. */
const LONGEST_SILENCE = 5_000;

/**
 * A number of permits that nobody owns, compatible on the wire with Redisson's `RSemaphore`: for sharing with Java. Permits of
 * a process that has crashed do not come back; where they should, use {@link RedisPermitExpirableSemaphore}.
 *
 * Not fair: who wants many permits may wait long while others take few.
 */
export class RedisSemaphore {
  readonly #requests: IdempotentRequests;

  constructor(
    private readonly context: RecipeContext,
    private readonly name: LockName,
    readonly key: string,
  ) {
    this.#requests = new IdempotentRequests(context, name, this.#about);
  }

  /**
   * Takes permits, all together. A message that is lost costs 5 s at most.
   *
   * Rejects with `LockTimeoutError` after `wait` ms, `LockAbortedError`, `LockClientClosedError`, `LockConnectionError`,
   * `LockOptionsError`, and with `LockKeyError` when there is something else under the key.
   */
  async acquire({ wait = this.context.wait, signal, permits }: PermitOptions = {}): Promise<void> {
    await this.#take({ wait, signal }, permits, true);
  }

  /** As `acquire`, but waits for nothing but the connection; resolves to whether it has them. */
  tryAcquire(options: PermitOptions = {}): Promise<boolean> {
    const { wait = this.context.connectTimeout, signal, permits } = options;
    return this.#take({ wait, signal }, permits, false);
  }

  /** Gives permits back, or adds new ones: nobody owns them. */
  async release(permits = 1): Promise<void> {
    validatePermits(permits, this.#about);
    await this.#change('release', permits);
  }

  /** As `release`, unless the semaphore is not there (any more); resolves to whether it was. */
  async releaseIfExists(permits = 1): Promise<boolean> {
    validatePermits(permits, this.#about);
    return (await this.#change('release-if-exists', permits)) === 1;
  }

  /**
   * Runs `fn` while it has one permit, or as many as the options say; settles as `fn` does. Permits that could not be given
   * back are told by a process warning, as nothing gives them back by itself.
   */
  async using<T>(fn: () => Promise<T> | T, options: PermitOptions = {}): Promise<T> {
    await this.acquire(options);
    try {
      return await fn();
    } finally {
      await this.release(options.permits).catch((error: Error) =>
        process.emitWarning(
          `Permits of semaphore "${this.key}" may not have been given back: ${error.message}`,
        ),
      );
    }
  }

  /** Below 0 when so many were taken away with `addPermits`. */
  async availablePermits(): Promise<number> {
    return Number(await this.#requests.ask(semaphoreCount, [this.name.redisKey], []));
  }

  /**
   * Sets how many there are, unless the semaphore is there already; resolves to whether it did.
   *
   * @param timeToLive ms after which it is gone; without bound unless given
   */
  async trySetPermits(permits: number, timeToLive?: number): Promise<boolean> {
    validatePermits(permits, this.#about);
    if (timeToLive !== undefined) validateLease('timeToLive', timeToLive, this.#about);
    return (await this.#change('try', permits, timeToLive)) === 1;
  }

  /** So many more; fewer, where it is below 0, and so maybe fewer than none. */
  async addPermits(permits: number): Promise<void> {
    validatePermits(Math.abs(permits), this.#about);
    await this.#change('add', permits);
  }

  /** Takes all that there are; resolves to how many. */
  drainPermits(): Promise<number> {
    return this.#change('drain', 0);
  }

  get #about() {
    return { key: this.key, client: this.context.client };
  }

  #change(mode: string, permits: number, timeToLive?: number): Promise<number> {
    const { redisKey, semaphoreChannel } = this.name;
    const args: RedisArgument[] = [this.#publish, semaphoreChannel, mode, permits];
    if (timeToLive !== undefined) args.push(timeToLive);
    return this.#requests.run(semaphoreChange, [redisKey], args);
  }

  async #take(
    options: Pick<PermitOptions, 'wait' | 'signal'>,
    permits = 1,
    mayWait: boolean,
  ): Promise<boolean> {
    validateAcquireOptions(options, this.#about);
    validatePermits(permits, this.#about);
    const { context, key } = this;
    const question = new Question(this.#requests.numbers);
    const commands = this.#commands(permits, question);
    let isTakenBack = false;
    const contest = {
      key,
      commands,
      request: { holder: '', lease: Infinity, about: '', mayWait },
      lines: [commands],
      granted: () => true,
      takeBack: ({ inFlight }: AcquireLoop) => {
        isTakenBack = true;
        void this.#undo(question, inFlight);
      },
    };
    try {
      const isTaken = await runWait(context, { key, options }, (wait) =>
        contend(context, contest, wait, () => {}),
      );
      return isTaken === true;
    } finally {
      if (!isTakenBack) question.settle();
    }
  }

  /** Gives back what an acquire that has failed has taken, or will. */
  async #undo(question: Question, inFlight: Promise<unknown>): Promise<void> {
    const { releases, clock } = this.context;
    const { redisKey, semaphoreChannel } = this.name;
    const { numbers, number } = question;
    const command = () => ({
      script: semaphoreUndo,
      keys: [redisKey, numbers.record],
      args: [...numbers.terms(number), this.#publish, semaphoreChannel],
    });
    const answered = inFlight.catch(() => {});
    await releases.complete(command, clock.now() + MEMORY, answered);
    question.settle(); // not before: the server refuses to undo what is settled
  }

  get #publish(): string {
    return this.context.connection.publishCommand;
  }

  #commands(
    permits: number,
    question: Question,
  ): AcquireCommands & Pick<LockCommands, 'localQueue'> {
    const { redisKey, semaphoreChannel } = this.name;
    return {
      redisKey,
      localQueue: 'waiters',
      maxSleep: LONGEST_SILENCE,
      leavesQueueEntry: false,
      channelOf: () => semaphoreChannel,
      acquire: () => ({
        script: semaphoreAcquire,
        keys: [redisKey, question.numbers.record],
        args: [...question.terms(), permits],
      }),
      answered: (isGranted) => question.answered(isGranted),
    };
  }
}

/** The requests of one acquire: what was answered is not asked again, so the next question is a new request. */
class Question {
  number: number;
  #isAnswered = false;

  constructor(readonly numbers: RequestNumbers) {
    this.number = numbers.next();
  }

  answered(isGranted: boolean): void {
    this.#isAnswered = true;
    if (!isGranted) this.settle(); // what waits for long must not keep the answers to others remembered
  }

  terms(): readonly RedisArgument[] {
    if (this.#isAnswered) {
      this.number = this.numbers.next();
      this.#isAnswered = false;
    }
    return this.numbers.terms(this.number);
  }

  /** Nothing of it is asked, or undone, any more. */
  settle(): void {
    this.numbers.settle(this.number);
  }
}
