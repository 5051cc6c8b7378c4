import {
  LockConnectionError,
  LockNotHeldError,
  LockOptionsError,
} from '../../core/errors/index.js';
import type { GuardedWrite } from '../../core/lease.js';
import { noOneStore, refuseUnlessFor } from '../../core/internal/guard.js';
import type { Hold, HoldBackend } from '../../core/internal/hold.js';
import { unlessLost } from '../../core/internal/timers.js';
import type { Renewable } from '../connection/renewal-schedule.js';
import { hashTag, slotOf } from '../connection/cluster-slots.js';
import { LockName } from '../connection/lock-name.js';
import type { RedisConnection } from '../connection/redis-connection.js';
import { isReply, isSettledRequest, replyError, replyText } from '../connection/redis-error.js';
import { asLongAs, Deadline, retryUntilAnswered } from '../connection/retry-until-answered.js';
import type { RecipeContext } from '../recipe-context.js';
import type { RedisWrite } from '../redis-write.js';
import { RequestNumbers } from '../connection/request-numbers.js';

/** Delay before a failed request is sent again, in ms. */
const RETRY_AFTER = 200;

/** A lock on Redis, as renewals know it. */
type Checked = HoldBackend & Pick<Renewable, 'keys' | 'field' | 'kind' | 'gone'>;
type LockHolds = readonly [Hold<Checked>, ...Hold<Checked>[]];

/**
 * The guarded writes of one hold. They are numbered, so that none counts twice: ioredis sends a request again if its answer is
 * lost, and a copy may arrive late.
 *
 * Invariant: the server remembers a request for as long as the hold may be there; after that a copy finds no holder, as no id
 * of a holder is ever used again. So the record may be deleted once the release was answered, and no write is under way.
 */
export class GuardedWrites {
  readonly #numbers: RequestNumbers;

  constructor(
    private readonly context: RecipeContext,
    redisKey: string,
    holder: string,
  ) {
    this.#numbers = new RequestNumbers(new LockName(redisKey).requests(holder));
  }

  /** @param holds all that must be there; as `Lease.guard` */
  async run(given: GuardedWrite<unknown>, holds: LockHolds): Promise<unknown> {
    refuseUnlessFor('Redis', given, holds[0].context);
    const write = given as RedisWrite<unknown>;
    if (this.context.connection.isCluster) refuseOtherSlots(write, holds);
    const [outcome, value] = await this.#send(write, holds);
    if (Number(outcome) === 1) return value ?? null;
    if (Number(outcome) === 2) throw replyError(String(value));
    const missing = holds[Number(value) - 1]!;
    missing.backend.gone();
    throw missing.lost ?? new LockNotHeldError(missing.context);
  }

  /** The release was answered. What may be sent again has to find its record, which ends by itself then. */
  forget(): void {
    if (!this.#numbers.isIdle) return;
    this.context.connection.read('del', this.#numbers.record).catch(() => {}); // it expires
  }

  /** Sends it until it is answered, one of the locks is lost, or the client's `connectTimeout` is over. */
  async #send(write: RedisWrite<unknown>, holds: LockHolds): Promise<[unknown, unknown]> {
    const { connection, clock, connectTimeout } = this.context;
    const number = this.#numbers.next();
    const keys = [
      this.#numbers.record,
      ...holds.flatMap(({ backend }) => backend.keys),
      ...write.keys,
    ];
    const checked = holds.flatMap(({ backend }) => [backend.field, backend.kind]);
    const doubt = new Doubt(connection);
    const args = [...this.#numbers.terms(number), holds.length, ...checked, ...write.args];
    const send = () => {
      const lost = lostOf(holds); // since the last attempt: then its caller knows that nothing was written
      if (lost) throw lost;
      return doubt.sent(connection.run(write.script, keys, args, (reply) => reply));
    };
    const over = () => tooLate(holds, doubt, connectTimeout);
    const deadline = new Deadline(clock, clock.now() + connectTimeout, over);
    const isWanted = () => holds.every(({ isLive }) => isLive);
    const sent = retryUntilAnswered(
      connection,
      send,
      asLongAs(clock, isWanted, deadline),
      () => RETRY_AFTER,
    );
    try {
      const answer = await Promise.race(holds.map((hold) => unlessLost(hold, sent)));
      if (answer !== undefined) return answer as [unknown, unknown];
    } catch (error) {
      const isKnown = isReply(error) && !isSettledRequest(error);
      if (isKnown || error instanceof LockConnectionError) throw error;
      throw unknownOutcome(holds, error);
    } finally {
      this.#numbers.settle(number);
    }
    const lost = lostOf(holds);
    throw doubt.isExcluded && lost ? lost : unknownOutcome(holds, lost);
  }
}

const lostOf = (holds: LockHolds) => holds.find(({ lost }) => lost)?.lost;

/** Whether a write may have been carried out, or may still be. */
class Doubt {
  /** Why it was not carried out at the last attempt. */
  cause?: unknown;
  #isUnderWay = false;
  #isOpen = false;
  readonly #interruptions: number;

  constructor(private readonly connection: RedisConnection) {
    this.#interruptions = connection.interruptions.count;
  }

  /** True while the server has refused each attempt, and no connection has broken on which a copy may be under way. */
  get isExcluded(): boolean {
    const isSame = this.connection.interruptions.count === this.#interruptions;
    return this.cause !== undefined && isSame && !this.#isUnderWay && !this.#isOpen;
  }

  /** Watches how the attempt ends; settles as it does. */
  async sent<T>(attempt: Promise<T>): Promise<T> {
    this.#isUnderWay = true;
    try {
      return await attempt;
    } catch (error) {
      this.cause = error;
      if (!isReply(error)) this.#isOpen = true;
      throw error;
    } finally {
      this.#isUnderWay = false;
    }
  }
}

function tooLate(holds: LockHolds, doubt: Doubt, ms: number): LockConnectionError {
  const { cause } = doubt;
  if (!doubt.isExcluded) return unknownOutcome(holds, cause, `within ${ms} ms`);
  const [{ context }] = holds;
  return new LockConnectionError(
    `Redis refused a guarded write under the lock ${JSON.stringify(context.key)} of client "${context.client}" for ${ms} ms: ${replyText(cause as Error)}. Nothing was written. Check the server, and repeat it.`,
    { ...context, cause },
  );
}

function unknownOutcome(
  [{ context }]: LockHolds,
  cause: unknown,
  when = 'for as long as it was held',
): LockConnectionError {
  return new LockConnectionError(
    `Redis did not answer a guarded write under the lock ${JSON.stringify(context.key)} of client "${context.client}" ${when}: it is unknown whether it was carried out, and it may still be. Look at the data before you repeat it.`,
    { ...context, cause },
  );
}

/** @throws LockOptionsError when not all keys are in the slot of the locks, so that no server has them all */
function refuseOtherSlots(write: RedisWrite<unknown>, holds: LockHolds): void {
  const [{ context, backend }] = holds;
  const [lock] = backend.keys;
  const isElsewhere = (key: string) => slotOf(key) !== slotOf(lock);
  if (holds.some((hold) => isElsewhere(hold.backend.keys[0]))) throw noOneStore(write, context);
  const key = write.keys.find(isElsewhere);
  if (key === undefined) return;
  const expected = `keys in the slot of the lock, such as "{${hashTag(lock)}}:${key}"`;
  throw new LockOptionsError('keys', key, expected, context);
}
