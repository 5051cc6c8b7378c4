import {
  LockClientClosedError,
  LockConnectionError,
  LockOptionsError,
  LockTimeoutError,
} from '../errors/index.js';
import type { WaitContext } from './acquire.js';
import type { Hold } from './hold.js';
import type { SwapRemoveSet } from './swap-remove-set.js';
import { WaitScope } from './wait-scope.js';

/** Revokes and frees all locks of a closing client; resolves when its acquires are over, too. */
export async function releaseAll(context: {
  readonly holds: SwapRemoveSet<Hold>;
  readonly waits: SwapRemoveSet<WaitScope>;
}): Promise<void> {
  const freed = [...context.holds].map((hold) => hold.revoke('the client was closed'));
  await Promise.all([...freed, ...[...context.waits].map((wait) => wait.ended())]);
}

/**
 * Measures the milliseconds until `ask` resolves.
 *
 * Rejects with `LockConnectionError` when `ask` fails or takes longer than `timeout` ms, with `LockClientClosedError` when the
 * client closes, and with `LockOptionsError` when `timeout` is out of range.
 */
export async function measurePing(
  { client, clock, waits }: Pick<WaitContext, 'client' | 'clock' | 'waits'>,
  timeout: number,
  ask: () => Promise<unknown>,
): Promise<number> {
  if (!(Number.isFinite(timeout) && timeout > 0))
    throw new LockOptionsError('timeout', timeout, 'milliseconds above 0', { client });
  const wait = new WaitScope({ client, clock, open: waits }, { wait: timeout });
  try {
    await wait.until(ask());
    return wait.elapsed;
  } catch (cause) {
    if (cause instanceof LockClientClosedError) throw cause;
    const why = cause instanceof LockTimeoutError ? '' : ` (${String(cause)})`;
    throw new LockConnectionError(
      `Lock client "${client}" had no answer within ${timeout} ms${why}. Check that the servers run.`,
      { client, cause },
    );
  } finally {
    wait.end();
  }
}
