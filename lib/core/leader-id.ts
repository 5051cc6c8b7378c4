import { hostname } from 'node:os';
import { LockOptionsError, type LockErrorContext } from './errors/index.js';
import type { LeaderOptions } from './leader-options.js';

const MOST = 1_000_000;

/**
 * Checks the options of an election, and tells who we are in it.
 *
 * @throws LockOptionsError
 */
export function leaderId(
  { id = `${hostname()}:${process.pid}`, errorPolicy = 'standard' }: LeaderOptions,
  context: LockErrorContext,
): string {
  if (typeof id !== 'string' || Buffer.byteLength(id) > MOST)
    throw new LockOptionsError('id', id, 'a text of up to 1,000,000 bytes', context);
  if (errorPolicy !== 'standard' && errorPolicy !== 'session')
    throw new LockOptionsError('errorPolicy', errorPolicy, "'standard' or 'session'", context);
  return id;
}
