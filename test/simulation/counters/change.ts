import type { SimulatedClient } from '../simulated-client.js';

/** What is known of a call that is to change the number. */
export interface Change {
  readonly id: number;
  /** What was called. */
  readonly what: string;
  readonly client: SimulatedClient;
  readonly startedAt: number;
  /** Can it have made `now` of `before`? No two calls can make the same. `undefined`: there was none. */
  readonly makes: (before: bigint | undefined, now: bigint) => boolean;
  /** It may be made more than once: that does no harm. */
  readonly isRepeatable: boolean;
  /** What it has made of what, on the server. */
  made?: { readonly before: bigint; readonly now: bigint };
  /** It has said that it was not made, and never will be. */
  isDenied?: boolean;
}
