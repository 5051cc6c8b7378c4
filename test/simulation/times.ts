/**
 * Functions for times that are compared after every event: Jest makes globals slow to access.
 *
 * `never` is a time that does not come.
 */
export const Times = { never: Infinity, earliest: Math.min, latest: Math.max } as const;
