import type { AcquireOptions } from './acquire-options.js';
import type { Bag } from './bag.js';
import { LockClientClosedError } from './errors/index.js';
import type { LockRecipe } from './lock-identity.js';
import { WaitScope, type WaitScopeContext } from './wait-scope.js';

/** What is asked for. */
export interface WaitRequest {
  /** What kind of lock it is, where it is one. */
  readonly recipe?: LockRecipe;
  /** Key of the lock, as the user gave it. */
  readonly key: string;
  readonly options: AcquireOptions;
  /** Does the caller go on inside of a lock that it holds? Then it may finish while the client shuts down. */
  readonly isInside?: boolean;
}

/** The client that is asked. */
export interface WaitContext {
  readonly client: string;
  readonly clock: WaitScopeContext['clock'];
  /** To whom anything is granted: from shutdown on only inside of locks that are held, in the end to nobody. */
  readonly admits: 'all' | 'insiders' | 'nobody';
  /** Acquires under way. */
  readonly waits: Bag<WaitScope>;
}

/**
 * The bounds that were asked for; whoever opens them ends them.
 *
 * @throws LockClientClosedError when the client admits nobody like that
 */
export function openWait(
  { client, clock, admits, waits }: WaitContext,
  { key, recipe, options, isInside = false }: WaitRequest,
): WaitScope {
  const isAdmitted = admits === 'all' || (admits === 'insiders' && isInside);
  if (!isAdmitted) throw new LockClientClosedError({ key, client });
  return new WaitScope({ key, client, clock, open: waits, recipe }, options);
}

/**
 * Runs `work` under the bounds that were asked for; settles as it does.
 *
 * Rejects with `LockClientClosedError` when the client admits nobody like that.
 */
export async function runWait<T>(
  context: WaitContext,
  request: WaitRequest,
  work: (wait: WaitScope) => Promise<T>,
): Promise<T> {
  const wait = openWait(context, request);
  try {
    return await work(wait);
  } finally {
    wait.end();
  }
}
