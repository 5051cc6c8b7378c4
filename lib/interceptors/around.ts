/** Runs `flow` under a lock; settles as it does. `signal` ends the wait for the lock. */
export type Around = (flow: () => Promise<unknown>, signal: AbortSignal) => Promise<unknown>;
