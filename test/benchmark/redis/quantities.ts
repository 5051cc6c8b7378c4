/** Of the semaphore. */
export const PERMITS = 3;

/** The keys of the multi-lock `key`: with a hash tag where they are to be in one slot. */
export function partsOf(key: string): string[] {
  return Array.from({ length: 5 }, (_, part) => `${key} ${part}`);
}
