/** A copy with the properties that have a value. */
export function withoutUndefined<T extends object>(options: T): T {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as T;
}
