/**
 * Functions for times that are compared after every event: Jest makes globals slow to access.
 *
 * `never` is a time that does not come.
 */
export const Times = { never: Infinity, earliest: Math.min, latest: Math.max } as const;

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

/** What a client learned too late is repaired by a few requests, at worst after a sleep. In milliseconds. */
const patience = (messages: number) => Timing.retry + messages * Timing.latency + Timing.rounding;

/** To create a node: create, two `exists` and two creates of parents, create again; twice that if it was deceived. */
const TO_QUEUE = patience(24);
/** An operation in turn holds, or has removed its node: event, listing; or listing, removal. */
const TO_SERVE = patience(8);

/** The longest that undisturbed actions take, in milliseconds. */
export const Patience = {
  TO_QUEUE,
  TO_SERVE,
  /** An attempt that does not queue is over. */
  TO_TRY: TO_QUEUE + TO_SERVE,
  /** The longest time between two attempts to connect. The end of the session restarts it, once. */
  LONGEST_BACK_OFF: 2 * 1_000,
  /** The default time that `close` allows for the removals. */
  LONGEST_CLOSE: 5_000,
} as const;
