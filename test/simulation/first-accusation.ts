/**
 * Runs one schedule after the other until one is accused of that.
 *
 * @param run the schedule of a seed; rejects with the accusation
 * @returns the accusation; `undefined` if there was none
 */
export async function firstAccusation(
  run: (seed: number) => Promise<unknown>,
  expected: RegExp,
  runs = 300,
): Promise<string | undefined> {
  for (let seed = 1; seed <= runs; seed++) {
    const accusation = await run(seed).then(
      () => undefined,
      (error: Error) => error.message.split('\n')[0],
    );
    if (accusation !== undefined && expected.test(accusation)) return accusation;
  }
  return undefined;
}
