import { hostname } from 'node:os';
import { type LockErrorContext, LockOptionsError } from '../errors/index.js';
import { validateOptionNames } from '../internal/option-names.js';
import type { WaitContext } from '../internal/acquire.js';
import type { Candidate } from '../internal/client-lifecycle.js';
import type { LeaseHandle } from '../internal/lease-handle.js';
import type { OrderedSet } from '../collections/ordered-set.js';
import type { Wait } from '../lock.js';

/** A participant of an election; Curator's class of that name. */
export interface Participant {
  /** The id given to its latch or selector. */
  readonly id: string;
  readonly isLeader: boolean;
}

/** Whether an interrupted connection, or only a lost session, ends a leadership; Curator's `ConnectionStateErrorPolicy`. */
export type ErrorPolicy = 'standard' | 'session';

/** Options of an election. */
export interface LeaderOptions {
  /**
   * Id of this participant, as listed by `participants()`: a text of up to 1,000,000 bytes. It need not be unique.
   *
   * @default host and process id, e.g. `web-1:4711`
   */
  readonly id?: string | undefined;
  /**
   * What ends a leadership, on ZooKeeper; Curator's `ConnectionStateErrorPolicy`.
   *
   * - `'standard'`: an interrupted connection. The leader's node stays, so if the session survives it leads again
   *   afterwards.
   * - `'session'`: the loss of the session only.
   *
   * On Redis it is always the end of the lease on the lock.
   *
   * @default 'standard'
   */
  readonly errorPolicy?: ErrorPolicy | undefined;
}

const MOST = 1_000_000;

/**
 * Validates the options of an election, and returns the id of this participant.
 *
 * @throws LockOptionsError
 */
export function validateLeaderId(options: LeaderOptions, context: LockErrorContext): string {
  validateOptionNames(options, ['id', 'errorPolicy'], context);
  const { id = `${hostname()}:${process.pid}`, errorPolicy = 'standard' } = options;
  if (typeof id !== 'string' || Buffer.byteLength(id) > MOST)
    throw new LockOptionsError('id', id, 'a text of up to 1,000,000 bytes', context);
  if (errorPolicy !== 'standard' && errorPolicy !== 'session')
    throw new LockOptionsError('errorPolicy', errorPolicy, "'standard' or 'session'", context);
  return id;
}

/** Backend of an election: it has a lock, and the holder of that lock is elected. */
export interface ElectionBackend {
  readonly key: string;
  /** Id of this participant. */
  readonly id: string;
  /** Context of the client. */
  readonly context: WaitContext & {
    readonly wait: Wait;
    /** Participants of elections of this client, which leave when it drains. */
    readonly candidates: OrderedSet<Candidate>;
  };
  /** Queues until elected, without re-entry inside the held lock. Rejects as `Lock.acquire` does. */
  elect(signal: AbortSignal): Promise<LeaseHandle>;
  /** Whether the elected participant may act as the leader now. */
  readonly isHealthy: boolean;
  /** Calls `listener` with the reason when `isHealthy` may have changed; the returned function removes it. */
  onHealthChange(listener: (why: string) => void): () => void;
  /**
   * Resolves when the servers have answered whether the lease from `elect` is still held, when that lease is lost, or when
   * `signal` aborts. Never rejects.
   */
  confirm(elected: LeaseHandle, signal: AbortSignal): Promise<void>;
  /** Lists the participants. Rejects as the driver does. */
  participants(): Promise<Participant[]>;
}
