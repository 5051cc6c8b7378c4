import { LockLostError, LockNotHeldError } from '../errors/index.js';
import type { GuardedWrite, Lease } from '../lease.js';
import { guardWrite } from './guard.js';
import type { Hold, HoldBackend } from './hold.js';
import { EndedLease, LeaseScope, type ScopedLease } from './lease-scope.js';

/** A handle on a {@link Hold}. */
export class LeaseHandle<B extends HoldBackend = HoldBackend> implements Lease {
  #released?: Promise<void>;
  #abort?: AbortController;
  /** Runs listeners of the signal in the async context of its first reader. */
  #inContext?: <T>(fn: () => T) => T;
  #forget?: () => void;
  #scoped?: ScopedLease;

  constructor(readonly hold: Hold<B>) {
    hold.retain();
  }

  get key(): string {
    return this.hold.context.key;
  }

  get isHeld(): boolean {
    return this.#released === undefined && this.hold.isLive;
  }

  /** Created on first access: most callers never read it, and a controller costs more than the rest of a lease. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      const abort = (this.#abort = new AbortController());
      this.#inContext = LeaseScope.contextOutside();
      const lost = this.hold.lost;
      if (lost) abort.abort(lost);
      else if (!this.#released) this.#forget = this.hold.onLost((error) => this.#abortWith(error));
    }
    return this.#abort.signal;
  }

  assertHeld(): void {
    const { lost } = this.hold;
    if (lost) throw lost;
    if (this.#released) throw new LockNotHeldError(this.hold.context);
  }

  async fencingToken(): Promise<bigint> {
    this.assertHeld();
    const token = await this.hold.fencingToken();
    this.assertHeld();
    return token;
  }

  async guard<R>(write: GuardedWrite<R>): Promise<R> {
    this.assertHeld();
    return await guardWrite(this.hold, write);
  }

  async run<T>(fn: () => Promise<T> | T): Promise<T> {
    this.assertHeld();
    const { hold } = this;
    hold.use();
    try {
      return await LeaseScope.run(this.scoped, async () => await fn()); // a query that begins when it is awaited, begins inside
    } finally {
      hold.endUse();
    }
  }

  /** @internal What the scopes of this lease refer to. */
  get scoped(): ScopedLease {
    return (this.#scoped ??= { lease: this });
  }

  release(): Promise<void> {
    this.#released ??= this.#giveBack();
    return this.#released;
  }

  /** As `release`, but called by another party than the code that uses the lease: its signal aborts. */
  withdraw(why: string): Promise<void> {
    const { signal } = this; // created now, for later readers
    if (!signal.aborted) this.#abortWith(new LockLostError(why, this.hold.context));
    return this.release();
  }

  /** As `release`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  /** Listeners find the lease as an ended one: what they acquire re-enters neither it nor the locks around this call. */
  #abortWith(error: LockLostError): void {
    const ended = { lease: new EndedLease(this.hold.context, error) };
    const abort = () => LeaseScope.run(ended, () => this.#abort!.abort(error));
    (this.#inContext ?? LeaseScope.runOutside)(abort);
  }

  #giveBack(): Promise<void> {
    this.#forget?.();
    this.#inContext = undefined; // of a request, perhaps
    if (this.#scoped) this.#scoped.lease = new EndedLease(this.hold.context, this.hold.lost);
    return this.hold.release();
  }
}

/** Why a lease was lost, if it was; checks the clock too, besides events. A manual release is no loss. */
export function lossReason(lease: Lease): LockLostError | undefined {
  try {
    lease.assertHeld();
  } catch (error) {
    if (error instanceof LockLostError) return error;
  }
  return undefined;
}

/** Runs `fn` in the scope of the lease that is acquired, then releases it; settles as `fn` does, or as the acquire if that fails. */
export async function runWithLease<T>(
  acquired: Promise<Lease>,
  fn: (lease: Lease) => Promise<T> | T,
): Promise<T> {
  const lease = await acquired;
  try {
    return await lease.run(() => fn(lease));
  } finally {
    await lease.release();
  }
}
