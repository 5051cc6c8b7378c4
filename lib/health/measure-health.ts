import {
  LockClientClosedError,
  LockConnectionError,
  type LockClient,
  type LockClientStatus,
} from '../core/index.js';
import type { LockHealth } from './lock-health.js';

/**
 * Asks the servers of a client, if it is connected to them. One that is connected and gets no answer within `timeout` ms is
 * down: its locks may be held, but it could not know.
 *
 * Rejects with `LockOptionsError` when `timeout` is not in its range.
 */
export async function measureHealth(client: LockClient, timeout = 1_000): Promise<LockHealth> {
  const before = client.status();
  if (!isConnected(before)) return before;
  try {
    const latency = await client.ping(timeout);
    return { ...client.status(), latency: Math.round(latency * 100) / 100 };
  } catch (error) {
    if (!(error instanceof LockConnectionError || error instanceof LockClientClosedError))
      throw error;
    const status = client.status();
    const health = isConnected(status) ? 'down' : status.health;
    return { ...status, health, message: error.message };
  }
}

function isConnected({ state }: LockClientStatus): boolean {
  return state === 'CONNECTED' || state === 'RECONNECTED';
}
