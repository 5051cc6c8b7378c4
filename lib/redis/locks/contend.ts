import type { WaitScope } from '../../core/internal/wait-scope.js';
import type { RecipeContext } from '../recipe-context.js';
import { AcquireLoop, type Granted } from './acquire-loop.js';
import { LocalQueuePlace } from './local-queue.js';
import type { AcquireCommands, LockCommands, LockRequest } from './lock-commands.js';

/** What one acquire contends for. */
export interface Contest<T> {
  /** Key of the lock, for errors. */
  readonly key: string;
  readonly commands: AcquireCommands;
  readonly request: LockRequest;
  /** The lines of this process that it stands in, in the order of the names: so no two wait for each other in a circle. */
  readonly lines: readonly Pick<LockCommands, 'localQueue' | 'redisKey'>[];
  /**
   * Makes of a grant what the caller gets, in the turn of the answer, so that nothing comes in between.
   *
   * @param places the acquire's own, one for each line; those of `exclusive` are to be left when the lock is free or lost
   */
  granted(grant: Granted, places: readonly LocalQueuePlace[]): T;
  /** Removes from the server whatever an acquire without a result has left there, or will. */
  takeBack(contention: AcquireLoop): void;
}

/**
 * Every acquire on this backend: stand in line in this process, contend on the server, refuse a grant that comes too late, and
 * take back what nobody gets.
 *
 * Invariant: an acquire ends with a result, or with `takeBack` where anything of it may be on the server.
 *
 * Resolves to `undefined` where others are ahead and it may not wait.
 */
export async function contend<T>(
  context: RecipeContext,
  contest: Contest<T>,
  wait: WaitScope,
  contended: () => void,
): Promise<T | undefined> {
  const { key, commands, request, lines } = contest;
  const contention = new AcquireLoop(context, commands, request, wait, key, contended);
  const places: LocalQueuePlace[] = [];
  let result: T | undefined;
  try {
    for (const line of lines) {
      const place = new LocalQueuePlace(context.lines, line, request.mayWait);
      places.push(place);
      if (place.isFirst) continue;
      if (!request.mayWait) return undefined;
      contended();
      await wait.until(place.first());
    }
    const grant = await contention.run(() => firstOf(places, wait));
    wait.throwIfEnded(); // a grant that comes too late is none
    if (grant) result = contest.granted(grant, places);
    return result;
  } catch (error) {
    throw contention.explained(error);
  } finally {
    contention.end();
    places.forEach((place, i) => {
      if (result === undefined || lines[i]!.localQueue !== 'exclusive') place.leave();
    });
    if (result === undefined && contention.mayBeOnServer) contest.takeBack(contention);
  }
}

/** Resolves when it is this acquire that asks the server for its process, to whether it had to wait for that. */
async function firstOf(places: readonly LocalQueuePlace[], wait: WaitScope): Promise<boolean> {
  let wasBehind = false;
  for (const place of places) if (await wait.until(place.first())) wasBehind = true;
  return wasBehind;
}
