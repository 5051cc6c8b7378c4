import { Program } from '../integration/support/program.js';
import type { RedisStage } from './redis-stage.js';

/** What the other process does. */
export interface LockUserOptions {
  readonly kind: 'fair' | 'read' | 'write';
  /** `watchdogTimeout` of its client, in ms. */
  readonly watchdogTimeout: number;
  /** Number of concurrent acquires. Default 1. */
  readonly count?: number;
}

/** Has another process acquire the lock of this test; resolves when each acquire was granted, or waits. */
export async function startLockUser(
  { deployment, isCluster, key }: RedisStage,
  { kind, watchdogTimeout, count = 1 }: LockUserOptions,
): Promise<Program> {
  const { urls } = deployment;
  const servers = isCluster ? { cluster: { nodes: urls } } : { connect: urls[0]! };
  const url = new URL('./programs/lock-user.ts', import.meta.url);
  const options = JSON.stringify({ ...servers, watchdogTimeout });
  const program = new Program(url, [options, key, kind, String(count)]);
  for (let n = 0; n < count; n++) await program.next();
  return program;
}
