import type { SimulatedLock } from '../simulated-lock.js';
import type { World } from '../world.js';
import { readWriteRule } from './read-write-rule.js';

/** The two sides of the read/write lock of that key. */
export function readWriteLock(
  world: World,
  key: string,
): { readonly read: SimulatedLock; readonly write: SimulatedLock } {
  const queue = world.queue(`/locks/${key}`, readWriteRule);
  const read: SimulatedLock = {
    key,
    queue,
    isReentrant: true,
    of: ({ locks }) => locks.readWriteLock(key).readLock(),
    prospect(live) {
      const reading = live.find(({ lock }) => lock === read);
      if (reading) return { kind: 're-enter', hold: reading };
      const writing = live.find(({ lock }) => lock === write);
      return writing ? { kind: 'downgrade', hold: writing } : { kind: 'queue' };
    },
  };
  const write: SimulatedLock = {
    key,
    queue,
    isReentrant: true,
    of: ({ locks }) => locks.readWriteLock(key).writeLock(),
    prospect(live) {
      const writing = live.find(({ lock }) => lock === write);
      if (writing) return { kind: 're-enter', hold: writing };
      const isReading = live.some(({ lock }) => lock === read);
      return isReading ? { kind: 'refuse', code: 'LOCK_UPGRADE' } : { kind: 'queue' };
    },
  };
  return { read, write };
}
