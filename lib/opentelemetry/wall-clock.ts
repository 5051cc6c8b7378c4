/** What `performance.now()` counts from, in milliseconds since 1970, as far as it is known. */
let origin = -Infinity;

/**
 * Milliseconds since 1970, with fractions. `Date.now()` has none, and a child would seem to begin before its parent;
 * `performance.timeOrigin` stays behind when the clock of the machine is set.
 *
 * Invariant: `origin` is never above the true one, and never lowered, unless the clock of the machine is set; so this clock
 * does not run backwards. Of the time that lies between two readings of the other clock only the whole milliseconds are
 * known, so they give two bounds of the origin, however long the process was interrupted there.
 */
export function wallClock(): number {
  const before = performance.now();
  const time = Date.now();
  const after = performance.now();
  const least = time - after;
  const isSetBack = origin >= time + 1 - before;
  if (origin < least || isSetBack) origin = least;
  return origin + after;
}
