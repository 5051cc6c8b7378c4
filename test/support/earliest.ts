/**
 * The soonest after which a timer of `ms` may fire, in ms: Node reckons from a clock of whole milliseconds, which may be another
 * one behind.
 */
export const earliest = (ms: number): number => ms - 2;
