/**
 * For times, and for those who compare them after every event: Jest makes globals slow to reach.
 *
 * `never` is a time that does not come.
 */
export const Times = { never: Infinity, earliest: Math.min, latest: Math.max } as const;
