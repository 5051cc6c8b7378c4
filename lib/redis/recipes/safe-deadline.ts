/** How much faster than ours the clock of a server may run, as a part of the time; and a fixed part of that, in ms. */
const DRIFT = 0.01;
const FIXED_DRIFT = 2;

/**
 * Up to when a lease is safe by our clock: it began on the server after the command was sent, and its clock may run faster
 * than ours (the drift of the Redlock algorithm).
 */
export function safeDeadline(sentAt: number, lease: number): number {
  return sentAt + lease - (lease * DRIFT + FIXED_DRIFT);
}
