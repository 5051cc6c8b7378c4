import { MultiLock } from '../../../lib/core/multi-lock.js';
import type { Clock } from '../../../lib/core/clock.js';
import type { Lock } from '../../../lib/core/lock.js';
import { ObservedPart } from '../observed-part.js';
import type { SimulatedLock } from '../simulated-lock.js';
import type { World } from '../world.js';

const real = (locks: readonly Lock[], clock: Clock): Lock => new MultiLock(locks, { clock });

/**
 * All of those locks as one.
 *
 * @param parts in the order of their keys
 * @param make receives the parts in another order. Default: the library's
 */
export function multiLock(
  world: World,
  parts: readonly SimulatedLock[],
  make = real,
): SimulatedLock {
  return {
    key: parts.map(({ key }) => key).join(' + '),
    parts,
    isReentrant: false, // its parts are, or not
    of: (client) => {
      const observed = parts.map((part) => new ObservedPart(world.judge, part, client));
      return make(observed.toReversed(), client.process);
    },
    prospect: () => ({ kind: 'queue' }),
  };
}
