import { hostname } from 'node:os';
import { type LockErrorContext, LockOptionsError } from '../errors/index.js';
import type { WaitContext } from '../internal/acquire.js';
import type { LeaseHandle } from '../internal/lease-handle.js';
import type { Wait } from '../lock.js';

/** Who takes part in an election; Curator's class of that name. */
export interface Participant {
  /** As given to its latch or selector. */
  readonly id: string;
  readonly isLeader: boolean;
}

/** What counts as a loss: an interrupted connection too, or that of the session only; Curator's `ConnectionStateErrorPolicy`. */
export type ErrorPolicy = 'standard' | 'session';

/** Options of an election. */
export interface LeaderOptions {
  /**
   * Who we are, for whoever asks for the participants: a text of up to 1,000,000 bytes. It need not be unique.
   *
   * @default host and process id, e.g. `web-1:4711`
   */
  readonly id?: string;
  /**
   * What ends a leadership, on ZooKeeper; Curator's `ConnectionStateErrorPolicy`.
   *
   * - `'standard'`: an interrupted connection. Its node stays, so if the session survives it goes on as the leader
   *   afterwards.
   * - `'session'`: the loss of the session only.
   *
   * On Redis it is always the end of the lease on the lock.
   *
   * @default 'standard'
   */
  readonly errorPolicy?: ErrorPolicy;
}

const MOST = 1_000_000;

/**
 * Checks the options of an election, and tells who we are in it.
 *
 * @throws LockOptionsError
 */
export function validateLeaderId(
  { id = `${hostname()}:${process.pid}`, errorPolicy = 'standard' }: LeaderOptions,
  context: LockErrorContext,
): string {
  if (typeof id !== 'string' || Buffer.byteLength(id) > MOST)
    throw new LockOptionsError('id', id, 'a text of up to 1,000,000 bytes', context);
  if (errorPolicy !== 'standard' && errorPolicy !== 'session')
    throw new LockOptionsError('errorPolicy', errorPolicy, "'standard' or 'session'", context);
  return id;
}

/** What a backend does for an election: it has a lock, and who holds that is elected. */
export interface ElectionBackend {
  readonly key: string;
  /** Who we are among the participants. */
  readonly id: string;
  /** The client. */
  readonly context: WaitContext & { readonly wait: Wait };
  /** Queues, also inside of the lock, until elected. Rejects as `Lock.acquire` does. */
  elect(signal: AbortSignal): Promise<LeaseHandle>;
  /** May who is elected act as the leader now? */
  readonly isHealthy: boolean;
  /** Calls `listener`, with what happened, when `isCertain` may have changed; the returned function stops that. */
  onHealthChange(listener: (why: string) => void): () => void;
  /**
   * Resolves when the servers have told whether what `elect` gave is still held, when that is lost, or when `signal` aborts.
   * Never rejects.
   */
  confirm(elected: LeaseHandle, signal: AbortSignal): Promise<void>;
  /** Rejects as the driver does. */
  participants(): Promise<Participant[]>;
}
