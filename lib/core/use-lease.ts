import type { Lease } from './lease.js';

/** Runs `fn` in the scope of `lease`, then releases it; settles as `fn` does. */
export async function useLease<T>(lease: Lease, fn: (lease: Lease) => Promise<T> | T): Promise<T> {
  try {
    return await lease.run(() => fn(lease));
  } finally {
    await lease.release();
  }
}
