let origin = performance.timeOrigin;

/**
 * Milliseconds since 1970, with fractions. `Date.now()` has none, and a child would seem to begin before its parent;
 * `performance.timeOrigin` stays behind when the clock of the machine is set.
 */
export function wallClock(): number {
  const elapsed = performance.now();
  const offset = Date.now() - elapsed; // too small by the fraction, so the greatest is the best
  if (offset > origin || origin - offset > 1) origin = offset;
  return origin + elapsed;
}
