import { HeldLease } from '../../core/internal/lease-handle.js';
import type { RedLockHold } from './red-lock-hold.js';

/** A lease on a {@link RedLock}. */
export class RedLockLease extends HeldLease<RedLockHold> {
  /** Milliseconds until it is lost unless it is renewed; 0 when it is not held. */
  remaining(): number {
    return this.isHeld ? this.hold.backend.remaining() : 0;
  }
}
