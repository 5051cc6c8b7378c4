import type { Bag } from './bag.js';
import type { ClientHold } from './client-hold.js';
import type { LockClientStatus } from './lock-client-status.js';
import type { WaitScope } from './wait-scope.js';

/** Status of a client with one connection, in that state. */
export function statusOf(
  state: string,
  { holds, waits }: { readonly holds: Bag<ClientHold>; readonly waits: Bag<WaitScope> },
): LockClientStatus {
  const held = [...holds].filter(({ isLive }) => isLive).length;
  const waiting = [...waits].filter(({ subject }) => subject !== undefined).length;
  return { health: healthOf(state), state, held, waiting };
}

function healthOf(state: string): LockClientStatus['health'] {
  if (state === 'CONNECTED' || state === 'RECONNECTED') return 'up';
  return state === 'SUSPENDED' || state === 'REFUSED' ? 'degraded' : 'down';
}
