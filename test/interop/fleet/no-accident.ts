import { setTimeout as delay } from 'node:timers/promises';
import type { Accident } from './accident.js';

/** Nothing happens for that many ms. */
export function noAccident(duration: number): Accident {
  return { name: 'no accident', happen: () => delay(duration) };
}
