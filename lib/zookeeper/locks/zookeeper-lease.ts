import { LockKeyError } from '../../core/errors/index.js';
import { LeaseHandle } from '../../core/internal/lease-handle.js';
import { isCanonicalPath } from '../connection/znode-path.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import { REVOKE_MESSAGE } from '../nodes/owned-node.js';
import { retryUntilAnswered } from '../nodes/retry-loop.js';
import type { RecipeContext } from '../recipe-context.js';
import type { LockHold } from './lock-hold.js';

/** Told that somebody asks for the lock; see {@link ZooKeeperLease.makeRevocable}. */
export type RevocationListener = (lease: ZooKeeperLease) => unknown;

/** A lease on a lock of this backend. */
export class ZooKeeperLease extends LeaseHandle<LockHold> {
  /** The znodes that stand for it: one, or one for each permit. */
  get paths(): readonly string[] {
    return this.hold.backend.paths;
  }

  /** What the znodes carry: the `data` of the lock, or what somebody has written since. Rejects with `ZooKeeperError`. */
  data(): Promise<Buffer> {
    return this.hold.backend.data();
  }

  /**
   * Has `listener` called when somebody asks for the lock back, by `revoke` of a client or by Curator's `Revoker`, and
   * again whenever it is asked for. It is a request: the lock stays held until the lease is released. What was asked for
   * before, since the node queues, is told now.
   *
   * The listener belongs to this lease. It is called asynchronously, never after the release; when it fails, that is a
   * process warning.
   *
   * @throws LockNotHeldError, LockLostError when the lease is not held
   */
  makeRevocable(listener: RevocationListener): void {
    this.assertHeld();
    const tell = () => (this.isHeld ? listener(this) : undefined);
    const warn = (error: unknown) =>
      process.emitWarning(`A revocation listener of lock "${this.key}" failed: ${String(error)}`);
    this.hold.backend.onRevoked(() => void Promise.resolve().then(tell).catch(warn));
  }
}

/**
 * Asks whoever stands in a queue with the node `participant` for the lock, as Curator's `Revoker`: listeners of its lease
 * are called. Resolves to false when there is no such node any more.
 *
 * Rejects with `LockKeyError` when it is not a path, otherwise as `retryUntilAnswered` does.
 */
export async function attemptRevoke(context: RecipeContext, participant: string): Promise<boolean> {
  const isPath = typeof participant === 'string' && isCanonicalPath(participant);
  if (!isPath || participant === '/')
    throw new LockKeyError(participant, 'it is no participant; take one from `participants()`', {
      client: context.client,
    });
  try {
    await retryUntilAnswered(context, participant, () =>
      context.connection.setData(participant, REVOKE_MESSAGE),
    );
    return true;
  } catch (error) {
    if (ZooKeeperError.is(error, ReturnCode.NONODE)) return false;
    throw error;
  }
}
