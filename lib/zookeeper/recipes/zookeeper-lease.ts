import { HeldLease } from '../../core/internal/lease-handle.js';
import type { LockHold } from './lock-hold.js';

/** Told that somebody asks for the lock; see {@link ZooKeeperLease.makeRevocable}. */
export type RevocationListener = (lease: ZooKeeperLease) => unknown;

/** A lease on a lock of this backend. */
export class ZooKeeperLease extends HeldLease<LockHold> {
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
