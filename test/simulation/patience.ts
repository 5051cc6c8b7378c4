import { Timing } from './timing.js';

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
