/**
 * Runs the random schedule of a seed; returns how often each kind of event happened. Each module in `schedules` has one.
 *
 * @throws when a promise is broken
 */
export type Schedule = (seed: number) => Promise<ReadonlyMap<string, number>>;
