import type { Schedule } from '../run-schedule.js';

/**
 * Runs one schedule after the other until one is accused of that.
 *
 * @param from the first seed
 * @returns the accusation; `undefined` if there was none
 */
export async function firstAccusation(
  schedule: Schedule,
  expected: RegExp,
  from: number,
  runs = 1_000,
): Promise<string | undefined> {
  for (let seed = from; seed < from + runs; seed++) {
    const accusation = await schedule(seed).then(
      () => undefined,
      (error: Error) => error.message.split('\n')[0],
    );
    if (accusation !== undefined && expected.test(accusation)) return accusation;
  }
  return undefined;
}
