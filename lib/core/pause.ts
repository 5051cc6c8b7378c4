import type { ElectionBackend } from './election-backend.js';
import { runWait } from './run-wait.js';

/** Resolves after `ms`, or as soon as `signal` aborts or the client closes. */
export async function pause(
  { key, context }: ElectionBackend,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  const request = { key, options: { signal } };
  await runWait(context, request, (wait) => wait.sleep(ms)).catch(() => {}); // whoever goes on is told why
}
