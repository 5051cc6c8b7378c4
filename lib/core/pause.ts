import type { ElectionBackend } from './election-backend.js';
import { runWait } from './run-wait.js';

/** How long it waits after it could not stand for election, in ms. */
const STAND_AGAIN_AFTER = 1_000;

/** Between two attempts to stand for election. Resolves in a second, or as soon as `signal` aborts or the client closes. */
export async function pause({ key, context }: ElectionBackend, signal: AbortSignal): Promise<void> {
  const request = { key, options: { signal } };
  await runWait(context, request, (wait) => wait.sleep(STAND_AGAIN_AFTER)).catch(() => {}); // whoever goes on is told why
}
