import {
  LockClientClosedError,
  LockConnectionError,
  LockOptionsError,
  LockTimeoutError,
} from '../errors/index.js';
import type { WaitContext } from './acquire.js';
import type { Hold } from './hold.js';
import type { SwapRemoveSet } from './swap-remove-set.js';
import { settleWithin } from './timers.js';
import { WaitScope } from './wait-scope.js';

/** Property of a client with connections that holds its `Liveness`; the same in all copies of this package. */
export const LIVENESS: unique symbol = Symbol.for('nestjs-interlock:liveness');

/** Whether the connections of a client keep the process alive. They do, until `unref`. */
export interface Liveness {
  /**
   * From now on its sockets and timers do not keep the process alive, as far as that can be set. Sockets and timers that are
   * made later may; so it is called again and again.
   */
  unref(): void;
  /** Closes what keeps the process alive nevertheless, and with it all locks; resolves when it is closed. */
  rest(): Promise<void>;
  /** Its connections keep the process alive again; opens what `rest` has closed. */
  ref(): void;
}

/** What a client ends when it closes. */
interface ClosableContext extends Pick<WaitContext, 'client' | 'clock'> {
  /** Bound on waits that have none, in ms: see `LockClient.drain`. */
  longestWait?: number;
  /** Which acquires are granted: from shutdown on only those inside held locks, in the end none. */
  accepts: WaitContext['accepts'];
  /** Acquires under way. */
  readonly waits: SwapRemoveSet<WaitScope>;
  /** Locks held. */
  readonly holds: SwapRemoveSet<Hold>;
}

/** The part of a shutdown that is of one backend. */
interface ClosableBackend {
  /** Resolves when no release is under way, not even in the background. */
  drained(): Promise<void>;
  /** Closes the connection within `ms` milliseconds. */
  disconnect(ms: number): Promise<void> | void;
}

/** Implements `drain`, `refuse` and `close` of `LockClient`. */
export class ClientLifecycle {
  #closing?: Promise<void>;

  constructor(
    private readonly context: ClosableContext,
    private readonly backend: ClosableBackend,
  ) {}

  drain(wait: number): void {
    this.context.longestWait = wait;
    for (const each of this.context.waits) each.bound(wait);
  }

  refuse(): void {
    this.#admit('reentrant');
  }

  close(timeout: number): Promise<void> {
    this.#closing ??= this.#close(timeout);
    return this.#closing;
  }

  /** Ends all pending waits, and limits which acquires are accepted from now on. */
  #admit(accepted: 'reentrant' | 'none'): void {
    if (this.context.accepts !== 'none') this.context.accepts = accepted;
    for (const wait of this.context.waits) wait.close();
  }

  async #close(timeout: number): Promise<void> {
    const { clock } = this.context;
    const endsAt = clock.now() + timeout;
    this.#admit('none');
    await settleWithin(timeout, clock, this.#releaseAll());
    await this.backend.disconnect(Math.max(0, endsAt - clock.now()));
  }

  /** Revokes and frees all locks; resolves when the acquires are over, too. */
  async #releaseAll(): Promise<void> {
    const { holds, waits } = this.context;
    const freed = [...holds].map((hold) => hold.revoke('the client was closed'));
    await Promise.all([...freed, ...[...waits].map((wait) => wait.ended())]);
    await this.backend.drained();
  }
}

/**
 * Measures the milliseconds until `ask` resolves.
 *
 * Rejects with `LockConnectionError` when `ask` fails or takes longer than `timeout` ms, with `LockClientClosedError` when the
 * client closes, and with `LockOptionsError` when `timeout` is out of range.
 */
export async function measurePing(
  { client, clock, waits, accepts }: WaitContext,
  timeout: number,
  ask: () => Promise<unknown>,
): Promise<number> {
  if (accepts === 'none') throw new LockClientClosedError({ client });
  if (!(Number.isFinite(timeout) && timeout > 0))
    throw new LockOptionsError('timeout', timeout, 'milliseconds above 0', { client });
  const wait = new WaitScope({ client, clock, open: waits }, { wait: timeout });
  try {
    await wait.until(ask());
    return wait.elapsed;
  } catch (cause) {
    if (cause instanceof LockClientClosedError) throw cause;
    const why = cause instanceof LockTimeoutError ? '' : ` (${String(cause)})`;
    throw new LockConnectionError(
      `Lock client "${client}" had no answer within ${timeout} ms${why}. Check that the servers run.`,
      { client, cause },
    );
  } finally {
    wait.end();
  }
}
