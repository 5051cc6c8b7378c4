import type { SimulatedLock } from '../simulated-lock.js';
import type { World } from '../world.js';
import { mutexRule } from './mutex-rule.js';
import { permitsRule } from './permits-rule.js';

/** The semaphore of that key with that many permits. */
export function semaphore(world: World, key: string, permits: number): SimulatedLock {
  return {
    key,
    queue: world.queue(
      `/locks/${key}/leases`,
      permitsRule(() => [permits]),
    ),
    gate: world.queue(`/locks/${key}/locks`, mutexRule),
    permits,
    isReentrant: false,
    of: ({ locks }) => locks.semaphore(key, { permits }),
    prospect: () => ({ kind: 'queue' }),
  };
}
