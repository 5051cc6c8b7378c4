import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';

/** How patiently {@link eventually} waits. */
export interface EventuallyOptions {
  /** Longest wait in milliseconds. Default 10 000. */
  within?: number;
  /** Pause between two looks in milliseconds. Default 10. */
  every?: number;
}

type Falsy = false | 0 | '' | null | undefined;

/**
 * Looks again and again until `probe` returns something truthy without throwing, and returns that.
 *
 * @param what the awaited condition in words, for the message when it does not come true
 * @throws when the time is up, with what was last seen: the falsy value, or the error as `cause`
 */
export async function eventually<T>(
  what: string,
  probe: () => T | Falsy | Promise<T | Falsy>,
  { within = 10_000, every = 10 }: EventuallyOptions = {},
): Promise<T> {
  const deadline = performance.now() + within;
  for (;;) {
    const [seen, error] = await attempt(probe);
    if (seen) return seen;
    if (performance.now() >= deadline) {
      const last = error === undefined ? inspect(seen) : inspect(error);
      throw new Error(`Not within ${within} ms: ${what}. Last seen: ${last}`, { cause: error });
    }
    await delay(every);
  }
}

async function attempt<T>(probe: () => T | Promise<T>): Promise<[T?, unknown?]> {
  try {
    return [await probe()];
  } catch (error) {
    return [undefined, error];
  }
}
