import { AsyncLocalStorage } from 'node:async_hooks';
import { type LockErrorContext, type LockLostError, LockNotHeldError } from '../errors/index.js';
import type { Lease } from '../lease.js';
import type { LockSubject } from '../lock-events.js';
import { isSameLock, type LockIdentity } from '../lock.js';

/** The part of a `Hold` that the chain needs. */
export interface ChainedHold {
  readonly identity: LockIdentity;
  readonly context: LockErrorContext;
  readonly subject: LockSubject;
  readonly backend: { readonly parts?: readonly ChainedHold[] | undefined };
}

/** A lease with its hold, which identifies the lock. */
interface ChainedLease extends Lease {
  readonly hold: ChainedHold;
}

/** What is known of a lease around some work. */
export type LeaseAround = Pick<ChainedLease, 'hold' | 'isHeld'>;

/**
 * What the scopes of one lease refer to. Whatever was started in a scope keeps it, and on Node 20 every promise keeps the scope
 * in which it was made. A lease has promises: so that work that starts its own next run does not keep all leases of its past,
 * the handle puts an {@link EndedLease} here when it is released.
 */
export interface ScopedLease {
  lease: ChainedLease | EndedLease;
}

/** A lease after its release, for work that outlives it. It refers to nothing of the lease but how that ended. */
export class EndedLease implements Lease {
  readonly isHeld = false;

  constructor(
    private readonly context: LockErrorContext & { readonly key: string },
    private readonly lost?: LockLostError,
  ) {}

  get key(): string {
    return this.context.key;
  }

  get signal(): AbortSignal {
    return this.lost ? AbortSignal.abort(this.lost) : new AbortController().signal;
  }

  assertHeld(): never {
    throw this.lost ?? new LockNotHeldError(this.context);
  }

  async fencingToken(): Promise<never> {
    return this.assertHeld();
  }

  async guard(): Promise<never> {
    return this.assertHeld();
  }

  async run(): Promise<never> {
    return this.assertHeld();
  }

  async release(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** Not `instanceof`: another copy of this package may have put it there. */
const isEnded = (lease: ChainedLease | EndedLease): lease is EndedLease => !('hold' in lease);

interface Link {
  readonly scoped: ScopedLease;
  outer: Link | undefined;
}

const KEY = Symbol.for('nestjs-interlock:lease-chain');
const shared = globalThis as { [KEY]?: AsyncLocalStorage<Link | undefined> };

/** Shared by every copy of this package in the process, so that ESM and CJS halves of an app re-enter each other's locks. */
const storage = (shared[KEY] ??= new AsyncLocalStorage());

/**
 * The chain of leases around the running code, innermost first.
 *
 * Invariant: links are only ever prepended, and only links of ended leases are removed, so the chain of a piece of work is
 * fixed by where it was started: a nested call sees the lease of its caller, and siblings never see each other's. A chain is
 * as long as there were live leases on it when its last link was added.
 */
export const LeaseScope = {
  /** Runs `fn` with that lease prepended to the chain. */
  run<T>(scoped: ScopedLease, fn: () => T): T {
    return storage.run({ scoped, outer: withoutEnded(storage.getStore()) }, fn);
  },

  /** Runs `fn` with those leases prepended to the chain, the last one first; in one call, as there may be 50,000. */
  runWithAll<T>(all: readonly ScopedLease[], fn: () => T): T {
    let link = withoutEnded(storage.getStore());
    for (const scoped of all) link = { scoped, outer: link };
    return storage.run(link, fn);
  },

  /**
   * Runs `fn` outside any lease scope: the work it starts does not belong to the caller. Listeners are called
   * by this, or they would re-enter the lock of the code that emits the event.
   */
  runOutside<T>(fn: () => T): T {
    return storage.run(undefined, fn);
  },

  /**
   * Returns a function that runs others in the async context of now, such as that of a request or a tenant, but outside any
   * lease scope. A listener of one call is called by this: the event that it waits for is noticed by any other call.
   */
  contextOutside(): <T>(fn: () => T) => T {
    return storage.run(undefined, () => AsyncLocalStorage.snapshot());
  },

  /** The innermost lease, live or not. */
  current(): Lease | undefined {
    return storage.getStore()?.scoped.lease;
  },

  /**
   * The hold that an acquire of `identity` re-enters: that of a live lease of the same lock on the chain. Work that
   * outlives the release finds only dead leases and queues like any other acquire; so does work after the loss of its lease.
   */
  find(identity: LockIdentity): ChainedHold | undefined {
    for (let link = storage.getStore(); link !== undefined; link = link.outer) {
      const { lease } = link.scoped;
      if (isEnded(lease)) continue;
      if (isSameLock(lease.hold.identity, identity) && lease.isHeld) return lease.hold;
    }
    return undefined;
  },

  /** The leases around the running code that have not ended, the innermost first. */
  around(): readonly LeaseAround[] {
    return leasesAround();
  },

  /** Whether the running code is inside a lock that it holds, of any client. */
  isInsideLock(): boolean {
    return leasesAround().some(({ isHeld }) => isHeld);
  },

  /** Whether the running code is inside a lock that it holds, of that key of that client. */
  isInsideKey(client: string, key: string): boolean {
    const isOf = ({ context }: ChainedHold) => context.client === client && context.key === key;
    return leasesAround().some(
      ({ hold, isHeld }) => isHeld && (isOf(hold) || hold.backend.parts?.some(isOf)),
    );
  },

  /** Whether the running code is work under that hold. */
  isInside(hold: ChainedHold): boolean {
    return leasesAround().some(
      ({ hold: outer }) => outer === hold || outer.backend.parts?.includes(hold),
    );
  },
};

/** The leases of the chain that have not ended, the innermost first. */
function leasesAround(): ChainedLease[] {
  const leases: ChainedLease[] = [];
  for (let link = storage.getStore(); link !== undefined; link = link.outer)
    if (!isEnded(link.scoped.lease)) leases.push(link.scoped.lease);
  return leases;
}

/** The innermost link from there that has not ended, with none behind it that has. */
function withoutEnded(from: Link | undefined): Link | undefined {
  const next = (link: Link | undefined) => {
    while (link && isEnded(link.scoped.lease)) link = link.outer;
    return link;
  };
  const innermost = next(from);
  for (let link = innermost; link; link = link.outer) link.outer = next(link.outer);
  return innermost;
}

/**
 * The lease of the innermost lock around the running code: of `using`, `run` or a decorated method. `undefined` outside.
 * It may have been lost or released since: check `isHeld`, `signal` or `assertHeld()`. Work that outlives the release gets a
 * lease that only knows its key and how it ended.
 */
export function currentLease(): Lease | undefined {
  return LeaseScope.current();
}
