import type { Bag } from './bag.js';
import type { Hold } from './hold.js';
import type { WaitScope } from './wait-scope.js';

/** Takes all locks of a client that closes from their holders and frees them; resolves when acquires are over, too. */
export async function giveEverythingBack(context: {
  readonly holds: Bag<Hold>;
  readonly waits: Bag<WaitScope>;
}): Promise<void> {
  const freed = [...context.holds].map((hold) => hold.revoke('the client was closed'));
  await Promise.all([...freed, ...[...context.waits].map((wait) => wait.ended())]);
}
