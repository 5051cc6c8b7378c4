/** Times of the simulated worlds, in milliseconds. */
export const Timing = {
  /** The longest that a message is under way, unless something is wrong with the network. */
  latency: 20,
  /** The server's unit of time: it looks for expired sessions once a tick. */
  tick: 500,
  /** What the clients sleep after a failed request. */
  retry: 50,
  /** A holder that did not wait watches its node after this time: a shorter hold does not pay for the request. */
  watchAfter: 100,
  /** Sums of times are not exact. */
  rounding: 1e-6,
} as const;
