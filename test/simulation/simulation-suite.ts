import type { Dice } from './dice.js';
import { schedulesSuite } from './schedules-suite.js';
import { simulate } from './simulate.js';
import type { SimulatedLock } from './simulated-lock.js';
import type { World } from './world.js';

const EVENTS = [
  'granted',
  'refused',
  'released',
  'fenced',
  'lost',
  'queued again',
  'taken',
  'session ended',
  'failed with LOCK_TIMEOUT',
  'failed with LOCK_ABORTED',
  'failed with LOCK_CLIENT_CLOSED',
  'CONNECTED',
  'SUSPENDED',
  'RECONNECTED',
  'LOST',
];

/**
 * The random schedules of one recipe for locks.
 *
 * @param lay makes the locks of a world
 * @param events what else has to happen
 */
export function simulationSuite(
  title: string,
  lay: (world: World, dice: Dice) => readonly SimulatedLock[],
  events: readonly string[] = [],
): void {
  schedulesSuite(title, (seed) => simulate(seed, lay), [...EVENTS, ...events]);
}
