import { LockTimeoutError } from '../../../lib/core/errors/index.js';

/** Whether it was granted before the wait was over. */
export async function isGranted(wait: Promise<unknown>): Promise<boolean> {
  try {
    await wait;
    return true;
  } catch (error) {
    if (error instanceof LockTimeoutError) return false;
    throw error;
  }
}
