import {
  LockAbortedError,
  LockConnectionError,
  LockError,
  LockTimeoutError,
} from '../../core/errors/index.js';
import type { WaitScope } from '../../core/internal/wait-scope.js';
import type { LockHolder } from '../../core/lock-holder.js';
import { isRefusal } from '../connection/redis-error.js';
import type { RedisAcquireOptions, RedisLease } from '../locks/redis-lease.js';
import type { RedisLock } from '../locks/redis-lock.js';
import { Ballot, type Ask } from './ballot.js';
import type { RedLockContext } from './red-lock-hold.js';

/** Time per server and round if the wait is unbounded, in ms, as in Redisson's `RedissonMultiLock`. */
const ROUND_OF_SERVER = 1_500;
/** Longest pause after a round without a winner, in ms. */
const LONGEST_PAUSE = 100;

/** Options that all requests have in common. */
type Terms = Pick<RedisAcquireOptions, 'lease' | 'maxHold' | 'minLease' | 'method'>;

/**
 * One owner's contention for a lock on several servers (the Redlock algorithm). All servers are asked at the same time. If
 * others hold it, waiters queue at one server, the first that answers, and the one that acquires it there asks the others: so
 * two waiters do not acquire half of the servers each. As in `RedissonRedLock`, a server has `max(rest / servers, 1)` ms.
 */
export class RedLockAttempt {
  /** The holder that was last seen at the server where it queues. */
  holder?: LockHolder;
  /** Last decided ballot of `#ask`. */
  #ballot?: Ballot;

  constructor(
    private readonly context: RedLockContext,
    private readonly parts: readonly RedisLock[],
    private readonly key: string,
    private readonly terms: Terms,
    private readonly wait: WaitScope,
    private readonly endsAt: number,
  ) {}

  /** Resolves to the ballot that was won, or to `undefined` if others hold the lock. */
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
  run(): Promise<Ballot> {
    return this.#unlessSilent(async () => {
      for (;;) {
        const ballot = (await this.#ask()) ?? (await this.#later());
        if (ballot) return ballot;
      }
    });
  }

  /** Whether too few servers answered the last ballot to know the holder. */
  get #isSilent(): boolean {
    return this.#ballot !== undefined && this.#ballot.answered.length < this.context.majority;
  }

  /** Whether the servers have had their time to answer, or to reconnect. */
  get #hasBeenPatient(): boolean {
    return this.wait.elapsed >= this.context.nodeTimeout;
  }

  /** Distinguishes a time-out that is due to silent servers from one that is due to other holders. */
  async #unlessSilent<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const isOwed = this.#isSilent && this.#hasBeenPatient;
      if (isOwed && error instanceof LockTimeoutError) throw this.#tooFew(error);
      throw error;
    }
  }

  /** Asks all servers; releases the grants of a ballot that was not won. */
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

  /** Failures that would recur at the next request. */
  get #lastingFailures(): LockError[] {
    const mayPass = (error: LockError) =>
      error instanceof LockTimeoutError ||
      error instanceof LockAbortedError ||
      isRefusal(error.cause);
    const failures = this.#ballot?.failures ?? [];
    return failures.filter((error) => error instanceof LockError).filter((it) => !mayPass(it));
  }

  async #later(): Promise<Ballot | undefined> {
    const { answered } = this.#ballot!;
    if (this.#isSilent) return void (await this.#pause());
    this.wait.contended();
    return await this.#queue(this.parts.find((part) => answered.includes(part))!);
  }

  /** Waits at server `first`, and then for the others. */
  async #queue(first: RedisLock): Promise<Ballot | undefined> {
    const gate = new AbortController();
    const asking = first.acquire({ ...this.terms, wait: this.#patience, signal: gate.signal });
    let lease: RedisLease | undefined;
    try {
      lease = await this.wait.until(asking);
    } catch (error) {
      gate.abort();
      asking.then((late) => late.release()).catch(() => {}); // it may have been granted in this very event loop turn
      this.wait.throwIfEnded();
      if (error instanceof LockTimeoutError) this.holder = error.holder;
      else await this.#pause();
      return undefined;
    }
    const terms = { ...this.terms, wait: this.#patience };
    const won = await this.#decide((part, signal) => {
      if (part === first) return Promise.resolve(lease); // whatever has happened since: the ballot releases it
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
      const { length } = ballot.leases.filter(({ isHeld }) => isHeld); // a lease may have ended already
      if (hasWon && length >= this.context.majority) won = ballot;
    } finally {
      if (won === undefined) ballot.giveBack();
    }
    return won;
  }

  /** Longest wait for one server, in ms. */
  get #patience(): number {
    const rest = this.endsAt - this.context.clock.now();
    return rest === Infinity ? ROUND_OF_SERVER : Math.max(rest / this.context.servers, 1);
  }

  /** Sleeps for a random time, so that waiters that have blocked each other do not do so again. */
  #pause(): Promise<void> {
    return this.wait.sleep(1 + this.context.random() * LONGEST_PAUSE);
  }

  #tooFew(cause: unknown = this.#ballot?.failures[0]): LockConnectionError {
    const { client, majority, servers } = this.context;
    return new LockConnectionError(
      `Fewer than ${majority} of the ${servers} servers of client "${client}" answered in time, so lock "${this.key}" was not granted. Check the servers, or raise \`nodeTimeout\`.`,
      { key: this.key, client, cause },
    );
  }
}

/** A server that is not connected is not asked: a pending request would be in the way after the reconnect. */
async function ifReady<T>(part: RedisLock, ask: () => Promise<T>): Promise<T> {
  if (!part.isReady) throw new Error('The server is not connected.');
  return await ask();
}
