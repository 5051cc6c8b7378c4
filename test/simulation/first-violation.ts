import type { Dice } from './dice.js';
import { firstAccusation } from './first-accusation.js';
import type { SimulatedLock } from './simulated-lock.js';
import { simulate } from './simulate.js';
import type { World } from './world.js';

/** The first accusation of that in the schedules of locks; `undefined` if there is none. */
export function firstViolation(
  lay: (world: World, dice: Dice) => readonly SimulatedLock[],
  expected: RegExp,
  runs?: number,
): Promise<string | undefined> {
  return firstAccusation((seed) => simulate(seed, lay), expected, runs);
}
