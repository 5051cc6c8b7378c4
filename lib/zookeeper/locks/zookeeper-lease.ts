import { LockKeyError } from '../../core/errors/index.js';
import { LeaseHandle } from '../../core/internal/lease-handle.js';
import { LeaseScope } from '../../core/internal/lease-scope.js';
import { isCanonicalPath } from '../connection/znode-path.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import { REVOKE_MESSAGE } from '../nodes/owned-node.js';
import { retryUntilAnswered } from '../nodes/retry-loop.js';
import type { RecipeContext } from '../recipe-context.js';
import type { LockHold } from './lock-hold.js';

/** Called on a revocation request; see {@link ZooKeeperLease.makeRevocable}. */
export type RevocationListener = (lease: ZooKeeperLease) => unknown;

/** A lease on a lock of this backend. */
export class ZooKeeperLease extends LeaseHandle<LockHold> {
  /** Paths of the znodes of the lease: one, or one for each permit. */
  get paths(): readonly string[] {
    return this.hold.backend.paths;
  }

  /** Data of the znodes: the `data` of the lock, or what was written since. Rejects with `ZooKeeperError`. */
  data(): Promise<Buffer> {
    return this.hold.backend.data();
  }

  /**
   * Calls `listener` on every revocation request, made by `revoke` of a client or by Curator's `Revoker`. It is only a
   * request: the lock stays held until the lease is released. A request made before this call, since the node was queued,
   * is reported now.
   *
   * The listener belongs to this lease. It is called asynchronously, never after the release; if it fails, a process
   * warning is emitted.
   *
   * @throws LockNotHeldError, LockLostError when the lease is not held
   */
  makeRevocable(listener: RevocationListener): void {
    this.assertHeld();
    const inContext = LeaseScope.contextOutside();
    const tell = () => (this.isHeld ? inContext(() => listener(this)) : undefined);
    const warn = (error: unknown) =>
      process.emitWarning(`A revocation listener of lock "${this.key}" failed: ${String(error)}`);
    this.hold.backend.onRevoked(() => void Promise.resolve().then(tell).catch(warn));
  }
}

/**
 * Requests the lock from the holder or waiter with the node `participant`, like Curator's `Revoker`: the listeners of its
 * lease are called. Resolves to false when the node no longer exists.
 *
 * Rejects with `LockKeyError` if `participant` is not a path, otherwise as `retryUntilAnswered` does.
 */
export async function attemptRevoke(context: RecipeContext, participant: string): Promise<boolean> {
  const isPath = typeof participant === 'string' && isCanonicalPath(participant);
  if (!isPath || participant === '/')
    throw new LockKeyError(participant, 'it is not a participant; take one from `participants()`', {
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
