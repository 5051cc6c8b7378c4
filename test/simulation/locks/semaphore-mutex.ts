import type { SimulatedLock } from '../simulated-lock.js';
import type { World } from '../world.js';
import { semaphore } from './semaphore.js';

/** The semaphore mutex of that key. */
export function semaphoreMutex(world: World, key: string): SimulatedLock {
  return { ...semaphore(world, key, 1), of: ({ locks }) => locks.semaphoreMutex(key) };
}
