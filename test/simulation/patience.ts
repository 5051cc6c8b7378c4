import { Timing } from './timing.js';

/** What came to a client's ears too late is made good by a few requests, after a sleep at worst. Milliseconds. */
const patience = (messages: number) => Timing.retry + messages * Timing.latency + Timing.rounding;

/** A node to be made: create, two `exists` and two creates of parents, create again; twice that if it was deceived. */
const TO_QUEUE = patience(24);
/** Who is served holds, or has removed its node: event, listing; or listing, removal. */
const TO_SERVE = patience(8);

/** The longest that anything takes to which nothing stands in the way, in milliseconds. */
export const Patience = {
  TO_QUEUE,
  TO_SERVE,
  /** An attempt that does not queue is over. */
  TO_TRY: TO_QUEUE + TO_SERVE,
  /** The longest time between two attempts to connect. The end of the session begins it anew, once. */
  LONGEST_BACK_OFF: 2 * 1_000,
  /** The time that `close` gives the removals, by default. */
  LONGEST_CLOSE: 5_000,
} as const;
