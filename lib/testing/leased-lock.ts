import type { AcquireOptions, Lock } from '../core/lock.js';
import type { Clock } from '../core/clock.js';
import { HeldLease, useLease } from '../core/internal/lease-handle.js';
import type { Lease } from '../core/lease.js';
import { validateLease } from '../redis/locks/redis-lease.js';
import { standIn } from './stand-in.js';

/** What locks of Redis take besides. */
interface LeaseOptions extends AcquireOptions {
  readonly lease?: number;
}

/** `lock`, with the `lease` of Redis: what is acquired with one is lost when that is over. */
export function leasedLock<L extends Lock>(lock: L, clock: Clock, client: string): L {
  const validate = (lease?: number) => {
    if (lease !== undefined) validateLease('lease', lease, { key: lock.key, client });
  };
  const bounded = <T extends Lease | undefined>(held: T, lease?: number): T => {
    if (lease === undefined || !(held instanceof HeldLease)) return held;
    const { hold } = held;
    clock.setTimer(
      () => void (hold.isLive && hold.revoke(`its lease of ${lease} ms is over`)),
      lease,
    );
    return held;
  };
  const acquire = async (options: LeaseOptions = {}) => {
    validate(options.lease);
    return bounded(await lock.acquire(options), options.lease);
  };
  const tryAcquire = async (options: LeaseOptions = {}) => {
    validate(options.lease);
    return bounded(await lock.tryAcquire(options), options.lease);
  };
  const using: Lock['using'] = async (fn, options) => await useLease(await acquire(options), fn);
  return standIn(lock, { acquire, tryAcquire, using } as Partial<L>);
}
