import {
  LockAbortedError,
  LockConnectionError,
  LockError,
  LockTimeoutError,
} from '../../core/errors/index.js';
import type { WaitScope } from '../../core/internal/wait-scope.js';
import { isRefusal } from '../connection/redis-error.js';
import type { RedisAcquireOptions, RedisLease } from '../locks/redis-lease.js';
import type { RedisLock } from '../locks/redis-lock.js';
import { Ballot, type Ask } from './ballot.js';
import type { RedLockContext } from './red-lock-hold.js';

/** What a wait without bound is taken for in a round, for each server, in ms: Redisson's `RedissonMultiLock`. */
const ROUND_OF_SERVER = 1_500;
/** The longest pause after a round that nobody won, in ms. */
const LONGEST_PAUSE = 100;

/** What every question has in common. */
type Terms = Pick<RedisAcquireOptions, 'lease' | 'maxHold' | 'minLease' | 'method'>;

/**
 * One owner's contention for a lock on several servers (the Redlock algorithm). All servers are asked at the same time. Where
 * others hold it, those who wait queue at one server, the first that answers, and whoever gets it there asks the others: so
 * two of them do not take half of the servers each. As in `RedissonRedLock` a server is waited for `max(rest / servers, 1)` ms.
 */
export class RedLockAttempt {
  /** The last question to all that was decided. */
  #ballot?: Ballot;

  constructor(
    private readonly context: RedLockContext,
    private readonly parts: readonly RedisLock[],
    private readonly key: string,
    private readonly terms: Terms,
    private readonly wait: WaitScope,
    private readonly endsAt: number,
  ) {}

  /** Resolves to the ballot that was won, or to `undefined` where others hold it. */
  once(): Promise<Ballot | undefined> {
    return this.#unlessSilent(async () => {
      for (;;) {
        const ballot = await this.#ask();
        if (ballot || !this.#isSilent) return ballot;
        if (this.#hasBeenPatient) throw this.#tooFew();
        await this.#pause();
      }
    });
  }

  /** Resolves to the ballot that was won. */
  run(contended: () => void): Promise<Ballot> {
    return this.#unlessSilent(async () => {
      for (;;) {
        const ballot = (await this.#ask()) ?? (await this.#later(contended));
        if (ballot) return ballot;
      }
    });
  }

  /** Have too few servers answered the last time to know who holds it? */
  get #isSilent(): boolean {
    return this.#ballot !== undefined && this.#ballot.answered.length < this.context.majority;
  }

  /** Have servers had the time that they are given to answer, or to be back? */
  get #hasBeenPatient(): boolean {
    return this.wait.elapsed >= this.context.nodeTimeout;
  }

  /** Tells an end of the wait that is owed to silent servers from one that others are to blame for. */
  async #unlessSilent<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const isOwed = this.#isSilent && this.#hasBeenPatient;
      if (isOwed && error instanceof LockTimeoutError) throw this.#tooFew(error);
      throw error;
    }
  }

  /** Asks all; gives back what it did not win. */
  async #ask(): Promise<Ballot | undefined> {
    const { nodeTimeout, servers, majority } = this.context;
    const terms = { ...this.terms, wait: nodeTimeout };
    this.wait.throwIfEnded();
    const won = await this.#decide(
      (part, signal) => ifReady(part, () => part.tryAcquire({ ...terms, signal })),
      (ballot) => (this.#ballot = ballot),
    );
    const lasting = this.#lastingFailures;
    if (!won && lasting.length > servers - majority) throw lasting[0]!;
    return won;
  }

  /** Those that will be the same when it asks again. */
  get #lastingFailures(): LockError[] {
    const mayPass = (error: LockError) =>
      error instanceof LockTimeoutError ||
      error instanceof LockAbortedError ||
      isRefusal(error.cause);
    const failures = this.#ballot?.failures ?? [];
    return failures.filter((error) => error instanceof LockError).filter((it) => !mayPass(it));
  }

  async #later(contended: () => void): Promise<Ballot | undefined> {
    const { answered } = this.#ballot!;
    if (this.#isSilent) return void (await this.#pause());
    contended();
    return await this.#queue(this.parts.find((part) => answered.includes(part))!);
  }

  /** Waits at that server, and then for the others. */
  async #queue(first: RedisLock): Promise<Ballot | undefined> {
    const gate = new AbortController();
    const asking = first.acquire({ ...this.terms, wait: this.#patience, signal: gate.signal });
    let lease: RedisLease | undefined;
    try {
      lease = await this.wait.until(asking);
    } catch (error) {
      gate.abort();
      asking.then((late) => late.release()).catch(() => {}); // it may have been granted in this very turn
      this.wait.throwIfEnded();
      if (!(error instanceof LockTimeoutError)) await this.#pause();
      return undefined;
    }
    const terms = { ...this.terms, wait: this.#patience };
    const won = await this.#decide((part, signal) => {
      if (part === first) return Promise.resolve(lease); // whatever has happened since: the ballot gives it back
      return ifReady(part, () => part.acquire({ ...terms, signal }));
    });
    if (won === undefined) await this.#pause();
    return won;
  }

  async #decide(ask: Ask, decided?: (ballot: Ballot) => void): Promise<Ballot | undefined> {
    const ballot = new Ballot(this.parts, this.context.majority, ask);
    let won: Ballot | undefined;
    try {
      const hasWon = await this.wait.until(ballot.decided);
      decided?.(ballot);
      const { length } = ballot.leases.filter(({ isHeld }) => isHeld); // a lease may be over already
      if (hasWon && length >= this.context.majority) won = ballot;
    } finally {
      if (won === undefined) ballot.giveBack();
    }
    return won;
  }

  /** How long one server is waited for, in ms. */
  get #patience(): number {
    const rest = this.endsAt - this.context.clock.now();
    return rest === Infinity ? ROUND_OF_SERVER : Math.max(rest / this.context.servers, 1);
  }

  /** By chance, so that those who have hindered each other do not do so again. */
  #pause(): Promise<void> {
    return this.wait.sleep(1 + this.context.random() * LONGEST_PAUSE);
  }

  #tooFew(cause: unknown = this.#ballot?.failures[0]): LockConnectionError {
    const { client, majority, servers } = this.context;
    return new LockConnectionError(
      `Fewer than ${majority} of the ${servers} servers of client "${client}" answered in time, so lock "${this.key}" was not granted. Look after the servers, or raise \`nodeTimeout\`.`,
      { key: this.key, client, cause },
    );
  }
}

/** A server that is not connected is not asked: what waited for it would be in the way when it is back. */
async function ifReady<T>(part: RedisLock, ask: () => Promise<T>): Promise<T> {
  if (!part.isReady) throw new Error('The server is not connected.');
  return await ask();
}
