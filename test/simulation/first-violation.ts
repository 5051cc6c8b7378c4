import type { Dice } from './dice.js';
import type { SimulatedLock } from './simulated-lock.js';
import { simulate } from './simulate.js';
import type { World } from './world.js';

/** Runs one schedule after the other until one is accused of that. @returns the accusation; `undefined`: none was */
export async function firstViolation(
  lay: (world: World, dice: Dice) => readonly SimulatedLock[],
  expected: RegExp,
  runs = 300,
): Promise<string | undefined> {
  for (let seed = 1; seed <= runs; seed++) {
    const accusation = await simulate(seed, lay).then(
      () => undefined,
      (error: Error) => error.message.split('\n')[0],
    );
    if (accusation !== undefined && expected.test(accusation)) return accusation;
  }
  return undefined;
}
