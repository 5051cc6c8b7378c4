import type { SimulatedClient } from '../simulated-client.js';

/** What is known of a call that is to change the number. */
export interface Change {
  readonly id: number;
  /** The method that was called. */
  readonly what: string;
  readonly client: SimulatedClient;
  readonly startedAt: number;
  /** Whether it can have changed `before` to `now`. No two calls can make the same change. `undefined`: there was none. */
  readonly makes: (before: bigint | undefined, now: bigint) => boolean;
  /** True if it may be made more than once without harm. */
  readonly isRepeatable: boolean;
  /** The change that it made on the server. */
  made?: { readonly before: bigint; readonly now: bigint };
  /** True once it has reported that it was not made, and never will be. */
  isDenied?: boolean;
}
