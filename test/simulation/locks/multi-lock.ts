import { MultiLock } from '../../../lib/core/multi-lock.js';
import { ObservedPart } from '../observed-part.js';
import type { SimulatedLock } from '../simulated-lock.js';
import type { World } from '../world.js';

/** All of those locks as one. @param parts in the order of their keys */
export function multiLock(world: World, parts: readonly SimulatedLock[]): SimulatedLock {
  return {
    key: parts.map(({ key }) => key).join(' + '),
    parts,
    isReentrant: false, // its parts are, or not
    of: (client) => {
      const observed = parts.map((part) => new ObservedPart(world.judge, part, client));
      return new MultiLock(observed.toReversed(), { clock: client.process });
    },
    prospect: () => ({ kind: 'queue' }),
  };
}
