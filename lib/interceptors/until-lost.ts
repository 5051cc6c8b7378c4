import type { Lease, LockLostError } from '../core/index.js';

/** Settles as `work` does, or rejects as soon as `lease` is lost; then nobody waits for the work any more. */
export async function untilLost<T>(lease: Lease, work: () => Promise<T>): Promise<T> {
  const { signal } = lease;
  let onAbort: (() => void) | undefined;
  const lost = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as LockLostError);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([lost, work()]);
  } finally {
    signal.removeEventListener('abort', onAbort!);
  }
}
