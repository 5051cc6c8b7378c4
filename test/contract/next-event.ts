import type { LockClient } from '../../lib/core/lock-client.js';
import type { LockEvents } from '../../lib/core/lock-events.js';

/** The next event of that kind. */
export function nextEvent<E extends keyof LockEvents>(
  locks: LockClient,
  event: E,
): Promise<LockEvents[E]> {
  return new Promise((resolve) => {
    const stop = locks.on(event, (value) => {
      stop();
      resolve(value);
    });
  });
}
