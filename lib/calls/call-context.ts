import type { Lease, LockClient } from '../core/index.js';
import type {
  LockMethodOptions,
  OnBusy,
  OnLost,
} from '../interfaces/lock-method-options.interface.js';
import type { LockTracer } from '../interfaces/lock-plan.interface.js';

/** The lock clients that calls may name. */
export interface ClientsByName {
  /**
   * @param name default: that of the default client
   * @param method class and method of the caller, for the message
   * @throws LockClientUnknownError
   */
  get(name: string | undefined, method?: string): LockClient;
  /** The defaults that calls have by their client. */
  policiesOf(name?: string): {
    readonly onBusy?: OnBusy<unknown[]> | undefined;
    readonly onLost?: OnLost<unknown[]> | undefined;
  };
}

/** An election in which the app takes part. */
interface Election {
  readonly name: string;
  /** @throws LockClientUnknownError, LockKeyError */
  join(method: string): void;
  /** A lease on the leadership, if the app leads. */
  enter(): Lease | undefined;
}

/** What locked calls have around them: in a Nest app, its services. */
export interface CallContext {
  readonly clients: ClientsByName;
  /** Needed by calls of `@LeaderOnly` only. */
  readonly elections?: {
    of(name: string, options: Pick<LockMethodOptions, 'client'>, method: string): Election;
  };
  readonly tracer?: LockTracer | undefined;
  /** For failures that no call rejects with. */
  readonly logger: {
    warn(message: string): void;
    error(message: string, error: unknown): void;
  };
}
