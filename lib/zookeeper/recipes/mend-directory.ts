import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import type { Acquisition } from './acquisition.js';
import type { LockParents } from './lock-parents.js';

/** After a request of an acquire has failed: makes the directory where that was missing; for the rest, asks the retry policy. */
export async function mendDirectory(
  error: unknown,
  directory: string,
  parents: LockParents,
  { wait, retry }: Pick<Acquisition, 'wait' | 'retry'>,
): Promise<void> {
  if (!ZooKeeperError.is(error, ReturnCode.NONODE)) return await retry.after(error);
  try {
    await wait.until(parents.make(directory));
  } catch (failure) {
    if (!ZooKeeperError.is(failure, ReturnCode.NONODE)) await retry.after(failure);
  }
}
