import { runWait } from '../../core/internal/acquire.js';
import { validateAcquireOptions, validatePermits } from '../../core/internal/validation.js';
import type { PermitOptions, Wait } from '../../core/lock.js';
import type { RedisArgument } from '../connection/ioredis.js';
import type { LockName } from '../connection/lock-name.js';
import type { AcquireLoop } from '../locks/acquire-loop.js';
import { contend } from '../locks/contend.js';
import { IdempotentRequests } from '../locks/idempotent-requests.js';
import type { AcquireCommands, LockCommands } from '../locks/lock-commands.js';
import { validateLease } from '../locks/redis-lease.js';
import { MEMORY, type RequestNumbers } from '../connection/request-numbers.js';
import type { RecipeContext } from '../recipe-context.js';
import {
  semaphoreAcquire,
  semaphoreChange,
  semaphoreCount,
  semaphoreUndo,
} from '../scripts/index.js';

/** Time after which a waiter asks again, whether or not it was woken, in ms. */
const LONGEST_SILENCE = 5_000;

/**
 * A number of permits without owners, wire-compatible with Redisson's `RSemaphore`: for sharing with Java. The permits of a
 * crashed process do not become available again; where they should, use {@link RedisPermitExpirableSemaphore}.
 *
 * Not fair: an acquire of many permits may wait long while others acquire few.
 *
 * Changes reject with `LockConnectionError` when Redis does not answer within `connectTimeout` or the client is closed: then it
 * is unknown whether they were carried out.
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
   * Acquires permits, all together. A lost message causes a delay of 5 s at most.
   *
   * Rejects with `LockTimeoutError` after `wait` ms, `LockAbortedError`, `LockClientClosedError`, `LockConnectionError`,
   * `LockOptionsError`, and with `LockKeyError` if the key holds something else.
   */
  async acquire(options: PermitOptions = {}): Promise<void> {
    await this.#take(options, this.context.wait, true);
  }

  /** As `acquire`, but waits only for the connection; resolves to whether the permits were acquired. */
  tryAcquire(options: PermitOptions = {}): Promise<boolean> {
    return this.#take(options, this.context.connectTimeout, false);
  }

  /** Releases permits, or adds new ones: permits have no owner. */
  async release(permits = 1): Promise<void> {
    validatePermits(permits, this.#about);
    await this.#change('release', permits);
  }

  /** As `release`, but only if the semaphore (still) exists; resolves to whether it did. */
  async releaseIfExists(permits = 1): Promise<boolean> {
    validatePermits(permits, this.#about);
    return (await this.#change('release-if-exists', permits)) === 1;
  }

  /**
   * Runs `fn` while holding one permit, or as many as the options say; settles as `fn` does. A semaphore that has ended
   * meanwhile is not made anew. If the release fails, a process warning is emitted, as nothing else releases the permits.
   */
  async using<T>(fn: () => Promise<T> | T, options: PermitOptions = {}): Promise<T> {
    const { permits } = options; // the caller may change its object meanwhile
    await this.acquire(options);
    try {
      return await fn();
    } finally {
      await this.releaseIfExists(permits).catch((error: Error) =>
        process.emitWarning(
          `Permits of semaphore "${this.key}" may not have been released: ${error.message}`,
        ),
      );
    }
  }

  /** Resolves to the number of available permits, below 0 if that many were removed with `addPermits`. */
  async availablePermits(): Promise<number> {
    return Number(await this.#requests.ask(semaphoreCount, [this.name.redisKey], []));
  }

  /**
   * Sets the number of permits, unless the semaphore already exists; resolves to whether it did.
   *
   * @param timeToLive time in ms after which the semaphore is removed; without bound unless given
   */
  async trySetPermits(permits: number, timeToLive?: number): Promise<boolean> {
    validatePermits(permits, this.#about);
    if (timeToLive !== undefined) validateLease('timeToLive', timeToLive, this.#about);
    return (await this.#change('try', permits, timeToLive)) === 1;
  }

  /** Adds permits; removes them if `permits` is below 0, possibly to a number below 0. */
  async addPermits(permits: number): Promise<void> {
    validatePermits(Math.abs(permits), this.#about);
    await this.#change('add', permits);
  }

  /** Acquires all available permits; resolves to their number. */
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

  async #take(given: PermitOptions, defaultWait: Wait, mayWait: boolean): Promise<boolean> {
    validateAcquireOptions(given, this.#about, ['permits']);
    const { wait: bound = defaultWait, signal, permits = 1 } = given;
    validatePermits(permits, this.#about);
    const options = { wait: bound, signal };
    const { context, key } = this;
    const question = new Question(this.#requests.numbers);
    const commands = this.#commands(permits, question);
    let isTakenBack = false;
    const contest = {
      key,
      commands,
      request: { holder: '', lease: Infinity, about: '', mayWait },
      line: commands,
      granted: () => true,
      takeBack: ({ inFlight }: AcquireLoop) => {
        isTakenBack = true;
        void this.#undo(question, inFlight);
      },
    };
    try {
      const isTaken = await runWait(context, { key, options, mayWait }, (wait) =>
        contend(context, contest, wait),
      );
      return isTaken === true;
    } finally {
      if (!isTakenBack) question.settle();
    }
  }

  /** Releases the permits that a failed acquire has acquired, or may still acquire. */
  async #undo(question: Question, inFlight: Promise<unknown>): Promise<void> {
    const { releases, clock } = this.context;
    const { redisKey, semaphoreChannel } = this.name;
    const { numbers, number } = question;
    const undo = () => ({
      script: semaphoreUndo,
      keys: [redisKey, numbers.record],
      args: [...numbers.terms(number), this.#publish, semaphoreChannel],
    });
    const until = clock.now() + MEMORY;
    await releases.complete(inFlight.catch(() => {}).then(undo), until);
    question.settle(); // not before: the server rejects the undo of a settled request
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

/** Requests of one acquire: an answered request is not sent again, so the next question is a new request. */
class Question {
  number: number;
  #isAnswered = false;

  constructor(readonly numbers: RequestNumbers) {
    this.number = numbers.next();
  }

  answered(isGranted: boolean): void {
    this.#isAnswered = true;
    if (!isGranted) this.settle(); // a long wait must not make the server remember the answers to other requests
  }

  terms(): readonly RedisArgument[] {
    if (this.#isAnswered) {
      this.number = this.numbers.next();
      this.#isAnswered = false;
    }
    return this.numbers.terms(this.number);
  }

  /** Ends the request: it is neither sent nor undone any more. */
  settle(): void {
    this.numbers.settle(this.number);
  }
}
