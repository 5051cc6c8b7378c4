import type { LockActivity, LockClient } from '../core/lock-client.js';

/** A client in virtual time, and the failures that a test may let it see. */
export interface ControlledClient {
  readonly locks: LockClient;
  /** Whether its connection is closed: no lock is kept any more. */
  readonly isClosed: boolean;
  /** See `LockTesting`, also for the others. */
  loseLease(key: string): Promise<void>;
  suspend(): Promise<void>;
  resume(): Promise<void>;
  expire(): Promise<void>;
}

/** The held locks of that key. @throws if there are none, or the client is suspended */
export function locksToLose(
  client: LockClient,
  key: string,
  isSuspended: boolean,
): readonly LockActivity[] {
  if (isSuspended)
    throw new Error(
      `Lock client "${client.name}" is suspended, so no holder would learn of the loss of "${key}". Call \`resume()\` first.`,
    );
  const held = client.activity().filter(({ state }) => state === 'held');
  const found = held.filter((lock) => lock.key === key);
  if (found.length > 0) return found;
  const keys = [...new Set(held.map((lock) => `"${lock.key}"`))].join(', ') || 'nothing';
  throw new Error(
    `No caller holds "${key}" of lock client "${client.name}"; the client holds ${keys}. Wait until it is held, with \`await advance(0)\`.`,
  );
}
