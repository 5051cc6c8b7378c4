import { randomUUID } from 'node:crypto';
import { LockOptionsError } from '../../core/errors/index.js';
import { runWait } from '../../core/internal/acquire.js';
import { validateAcquireOptions } from '../../core/internal/validation.js';
import type { OccurrenceMark, OccurrenceMarkOptions } from '../../core/occurrence-mark.js';
import type { RedisOccurrenceMark } from '../redis-occurrence-mark.js';
import type { RedLockContext } from './red-lock-hold.js';

/** Pause before the servers are asked again, in ms. */
const PAUSE = 50;

/** Numbers of servers that answered. */
interface Votes {
  yes: number;
  no: number;
}

/** Returns what the servers have decided; `undefined` while they have not. */
type Decide = (votes: Readonly<Votes>) => boolean | undefined;

/**
 * The mark of a job on several servers: raised when a majority has raised it. Any other majority has one of these servers, so
 * no other request gets the same answer. One that reached only a minority keeps that occurrence from running, or does not matter.
 */
export class RedLockOccurrenceMark implements OccurrenceMark {
  constructor(
    private readonly context: RedLockContext,
    private readonly parts: readonly RedisOccurrenceMark[],
    readonly key: string,
  ) {}

  isReached(occurrence: number, options: OccurrenceMarkOptions = {}): Promise<boolean> {
    const { majority, servers } = this.context;
    return this.#ask(occurrence, '', options, ({ yes, no }) => {
      if (no >= majority) return true;
      return yes > servers - majority ? false : undefined;
    });
  }

  raise(occurrence: number, options: OccurrenceMarkOptions = {}): Promise<boolean> {
    const { majority } = this.context;
    return this.#ask(occurrence, randomUUID(), options, ({ yes, no }) => {
      if (yes >= majority) return true;
      return no >= majority ? false : undefined;
    });
  }

  /** Asks all servers until they have decided. */
  #ask(
    occurrence: number,
    id: string,
    options: OccurrenceMarkOptions,
    decide: Decide,
  ): Promise<boolean> {
    const { context, key } = this;
    const { client, nodeTimeout, majority, servers } = context;
    validateAcquireOptions(options, { key, client });
    const request = { key, options, wait: 2 * nodeTimeout };
    return runWait(context, request, async (wait) => {
      for (;;) {
        const asked = this.parts.map((part) => part.request(occurrence, id, { wait: nodeTimeout }));
        const { outcome, refusals } = await wait.until(count(asked, decide));
        if (outcome !== undefined) return outcome;
        if (refusals.length > servers - majority) throw refusals[0]!;
        await wait.sleep(PAUSE);
      }
    });
  }
}

/** Resolves when the answers decide, without waiting for the others, or when all are there. Never rejects. */
function count(
  asked: readonly Promise<boolean>[],
  decide: Decide,
): Promise<{ outcome: boolean | undefined; refusals: LockOptionsError[] }> {
  const votes = { yes: 0, no: 0 };
  const refusals: LockOptionsError[] = [];
  return new Promise((resolve) => {
    let pending = asked.length;
    const counted = () => {
      pending -= 1;
      const outcome = decide(votes);
      if (outcome !== undefined || pending === 0) resolve({ outcome, refusals });
    };
    for (const answer of asked)
      answer.then(
        (isYes) => {
          votes[isYes ? 'yes' : 'no'] += 1;
          counted();
        },
        (error) => {
          if (error instanceof LockOptionsError) refusals.push(error);
          counted();
        },
      );
  });
}
