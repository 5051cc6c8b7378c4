import { ObservedCount } from '../observed-count.js';
import type { SimulatedClient } from '../simulated-client.js';
import type { SimulatedLock } from '../simulated-lock.js';
import type { World } from '../world.js';
import { mutexRule } from './mutex-rule.js';
import { permitsRule } from './permits-rule.js';

/** The semaphore of that key with as many permits as a shared count has: at most `highest`, and changed occasionally. */
export function countedSemaphore(world: World, key: string, highest: number): SimulatedLock {
  const count = new ObservedCount(world, '/count', highest);
  const queue = world.queue(
    `/locks/${key}/leases`,
    permitsRule(() => [count.value, ...count.believed]),
  );
  count.onChange = () => queue.serve();
  return {
    key,
    queue,
    gate: world.queue(`/locks/${key}/locks`, mutexRule),
    permits: highest,
    isReentrant: false,
    of: (client: SimulatedClient) => client.locks.semaphore(key, { permits: count.of(client) }),
    prospect: () => ({ kind: 'queue' }),
  };
}
