import { ownHolder } from '../../core/internal/own-holder.js';
import type { WaitScope } from '../../core/internal/wait-scope.js';
import type { LockHolder } from '../../core/lock-holder.js';
import type { RecipeContext } from '../recipe-context.js';
import { AcquireLoop, type Granted } from './acquire-loop.js';
import { type Handed, LocalQueuePlace } from './local-queue.js';
import type { AcquireCommands, LockCommands, LockRequest } from './lock-commands.js';
import { holderOf } from './lock-holders.js';

/** What one acquire contends for. */
export interface Contest<T> {
  /** Key of the lock, for errors. */
  readonly key: string;
  /** Names on the server of the locks. Default: that of the line. */
  readonly names?: readonly string[];
  readonly commands: AcquireCommands;
  readonly request: LockRequest;
  /** The local queue that the acquire joins. */
  readonly line: Pick<LockCommands, 'localQueue' | 'redisKey'>;
  /**
   * Turns a grant into the caller's result, in the event loop turn of the answer, so that nothing runs in between.
   *
   * @param place the acquire's own; in a queue of holders it must be left when the lock is free or lost
   */
  granted(grant: Granted, place: LocalQueuePlace): T;
  /** Turns what another acquire of this client hands on into the result; `undefined`: it does not take that. */
  takeOver?(handed: Handed, place: LocalQueuePlace): T | undefined;
  /** Removes anything that an acquire without a result has left, or may still leave, on the server. */
  takeBack(contention: AcquireLoop): void;
}

/**
 * Runs any acquire on this backend: joins the local queue, contends on the server, discards a grant that comes too late,
 * and cleans up after an acquire without a result.
 *
 * Invariant: an acquire ends with a result, or with `takeBack` if the server may hold state for it.
 *
 * Resolves to `undefined` if others are ahead and it may not wait.
 */
export async function contend<T>(
  context: RecipeContext,
  contest: Contest<T>,
  wait: WaitScope,
): Promise<T | undefined> {
  const { key, commands, request, line } = contest;
  const contention = new AcquireLoop(context, commands, request, wait, key);
  const holder = () => lastSeen(context, contest, contention, wait);
  wait.holder = holder;
  const place = new LocalQueuePlace(context.lines, line, request.mayWait);
  let result: T | undefined;
  try {
    if (!place.isFirst) {
      const wasKept = place.onHandOff((handed) => {
        result = contest.takeOver?.(handed, place);
        return result !== undefined;
      });
      if (result !== undefined) return result;
      if (!request.mayWait && line.localQueue === 'shared')
        place.leave(); // it asks, as several may have the lock
      else if (!place.isFirst) {
        if (request.mayWait) wait.contended();
        else if (!wasKept) return undefined;
        await place.first(wait);
        if (result !== undefined) return result;
      }
    }
    const grant = await contention.run(() => place.first(wait));
    wait.throwIfEnded(); // a grant that comes too late does not count
    if (grant) result = contest.granted(grant, place);
    return result;
  } catch (error) {
    if (result !== undefined) return result; // it was handed on before the wait ended
    throw contention.explained(error);
  } finally {
    contention.end();
    if (result === undefined || !place.isOfHolders) place.leave();
    if (result === undefined && contention.mayBeOnServer) contest.takeBack(contention);
  }
}

/** The holder that the acquire last saw: of this client, or in an answer of the server. */
function lastSeen<T>(
  context: RecipeContext,
  { line, names = [line.redisKey] }: Contest<T>,
  { seen: [field, about] }: AcquireLoop,
  { subject }: WaitScope,
): LockHolder | undefined {
  const isReadWrite = subject?.recipe === 'readLock' || subject?.recipe === 'writeLock';
  return (
    ownHolder(context, names) ?? (field ? holderOf(String(field), about, isReadWrite) : undefined)
  );
}
