import type { RedisLockOptions } from '../redis-options.js';
import type { Renewable } from '../connection/renewal-schedule.js';
import type { ThreadTime } from '../../core/worker/thread-clock.js';

/** Options of the connection that the worker makes, all of which can be copied. */
export type WorkerConnectionOptions = Pick<
  RedisLockOptions,
  'connect' | 'cluster' | 'driver' | 'watchdogTimeout' | 'connectTimeout' | 'replicas'
>;

/** What the worker gets at its start. Times are in ms. */
export interface WorkerStart {
  /** Name of the lock client. */
  readonly client: string;
  readonly options: WorkerConnectionOptions;
  readonly maxStall: number;
  /** Memory of the `SignOfLife`. */
  readonly sign: SharedArrayBuffer;
  /** A moment by the clocks of the main thread. */
  readonly time: ThreadTime;
  /** For {@link MirrorMessage} and {@link Confirmations}. */
  readonly port: unknown;
}

/** A registered hold, as the worker needs it to renew it. */
export interface HoldCopy extends Pick<Renewable, 'keys' | 'kind' | 'lease'> {
  readonly id: number;
  readonly field: string | Uint8Array;
  readonly extension: number;
  /** End of its `maxHold` by the clock of the main thread, or `Infinity`. */
  readonly endsAt: number;
}

/** A hold that was registered, or whose lease has changed; or the id of one that no longer is. */
export type MirrorMessage = HoldCopy | number;

/** Renewals that the server has confirmed: four numbers each, the id of the hold, when it was sent, the lease and `extension`. */
export type Confirmations = readonly number[];
