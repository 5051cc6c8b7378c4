import { AsyncLocalStorage } from 'node:async_hooks';
import type { Lease } from '../lease.js';
import { isSameLock, type LockIdentity } from '../lock.js';

/** The part of a `Hold` that the chain needs. */
export interface ChainedHold {
  readonly identity: LockIdentity;
}

/** A lease with its hold, which identifies the lock. */
interface ChainedLease extends Lease {
  readonly hold: ChainedHold;
}

interface Link {
  readonly lease: ChainedLease;
  readonly outer: Link | undefined;
}

const KEY = Symbol.for('nestjs-interlock:lease-chain');
const shared = globalThis as { [KEY]?: AsyncLocalStorage<Link | undefined> };

/** Shared by every copy of this package in the process, so that ESM and CJS halves of an app re-enter each other's locks. */
const storage = (shared[KEY] ??= new AsyncLocalStorage());

/**
 * The chain of leases around the running code, innermost first.
 *
 * Invariant: links are immutable and only ever prepended, so the chain of a piece of work is fixed by where it was
 * started: a nested call sees the lease of its caller, and siblings never see each other's.
 */
export const LeaseScope = {
  /** Runs `fn` with `lease` prepended to the chain. */
  run<T>(lease: ChainedLease, fn: () => T): T {
    return storage.run({ lease, outer: storage.getStore() }, fn);
  },

  /** Runs `fn` outside any lease scope: the work it starts does not belong to the caller. */
  runOutside<T>(fn: () => T): T {
    return storage.run(undefined, fn);
  },

  /** The innermost lease, live or not. */
  current(): Lease | undefined {
    return storage.getStore()?.lease;
  },

  /**
   * The hold that an acquire of `identity` re-enters: that of a live lease of the same lock on the chain. Work that
   * outlives the release finds only dead leases and queues like any other acquire; so does work after the loss of its lease.
   */
  find(identity: LockIdentity): ChainedHold | undefined {
    for (let link = storage.getStore(); link !== undefined; link = link.outer) {
      const { hold, isHeld } = link.lease;
      if (isSameLock(hold.identity, identity) && isHeld) return hold;
    }
    return undefined;
  },
};

/**
 * The lease of the innermost lock around the running code: of `using`, `run` or a decorated method. `undefined` outside.
 * It may have been lost or released since: check `isHeld`, `signal` or `assertHeld()`.
 */
export function currentLease(): Lease | undefined {
  return LeaseScope.current();
}
