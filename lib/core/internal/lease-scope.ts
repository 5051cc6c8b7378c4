import { AsyncLocalStorage } from 'node:async_hooks';
import type { Lease } from '../lease.js';
import { isSameLock, type LockIdentity } from '../lock.js';

/** The `Hold` of a lease, as far as the chain has to know it. */
export interface ChainedHold {
  readonly identity: LockIdentity;
}

/** A lease with the hold that tells which lock it is. */
interface ChainedLease extends Lease {
  readonly hold: ChainedHold;
}

interface Link {
  readonly lease: ChainedLease;
  readonly outer: Link | undefined;
}

const KEY = Symbol.for('nestjs-interlock:lease-chain');
const shared = globalThis as { [KEY]?: AsyncLocalStorage<Link | undefined> };

/** One storage for every copy of this package in the process, so that ESM and CJS halves of an app re-enter each other. */
const storage = (shared[KEY] ??= new AsyncLocalStorage());

/**
 * The leases in whose scope the running code is, innermost first.
 *
 * Invariant: links are immutable and only ever put in front, so the chain of a piece of work is fixed by where it was
 * started: a nested call sees the lease of its caller, two siblings never see each other's.
 */
export const LeaseScope = {
  /** Runs `fn` with `lease` put in front of the chain. */
  run<T>(lease: ChainedLease, fn: () => T): T {
    return storage.run({ lease, outer: storage.getStore() }, fn);
  },

  /** Runs `fn` in the scope of no lease: what it begins is not the work of whoever calls it. */
  runOutside<T>(fn: () => T): T {
    return storage.run(undefined, fn);
  },

  /** The innermost lease, live or not. */
  current(): Lease | undefined {
    return storage.getStore()?.lease;
  },

  /**
   * The hold that an acquire of `identity` re-enters: that of a live lease of the same lock on the chain. Work that
   * outlives the release finds only dead ones and queues like anybody else; so does work whose lease was lost.
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
 * It may have been lost or released since: look at `isHeld`, `signal` or `assertHeld()`.
 */
export function currentLease(): Lease | undefined {
  return LeaseScope.current();
}
