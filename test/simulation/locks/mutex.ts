import type { SimulatedLock } from '../simulated-lock.js';
import type { World } from '../world.js';
import { mutexRule } from './mutex-rule.js';

/** The mutex of that key. */
export function mutex(world: World, key: string): SimulatedLock {
  const lock: SimulatedLock = {
    key,
    queue: world.queue(`/locks/${key}`, mutexRule),
    isReentrant: true,
    of: ({ locks }) => locks.mutex(key),
    prospect(live) {
      const hold = live.find((it) => it.lock === lock);
      return hold ? { kind: 're-enter', hold } : { kind: 'queue' };
    },
  };
  return lock;
}
