import type { Hold, HoldBackend } from './hold.js';

/** A lock that a client holds. */
export type ClientHold = Hold<
  HoldBackend & {
    /** Time of the grant by the client's clock. */
    readonly heldSince: number;
    /** Who holds, as the servers know it. */
    readonly holders: readonly string[];
    /** The fencing token, where no question is needed. */
    readonly knownToken?: bigint;
  }
>;
