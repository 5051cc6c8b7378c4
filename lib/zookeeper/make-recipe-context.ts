import { Bag } from '../core/internal/swap-remove-set.js';
import { GuaranteedDelete } from './recipes/guaranteed-delete.js';
import { LockParents } from './recipes/lock-parents.js';
import { LongHolds } from './recipes/long-holds.js';
import type { RecipeContext } from './recipes/recipe-context.js';
import { ServedNodes } from './recipes/served-nodes.js';
import { SoleChildMemory } from './recipes/sole-child-memory.js';
import type { ZooKeeperLockClientSettings } from './zookeeper-lock-client-settings.js';

/** What the recipes of a client share. */
export function makeRecipeContext(settings: ZooKeeperLockClientSettings): RecipeContext {
  const { name, connection, events, clock, connectTimeout, wait, retryPolicy, acl } = settings;
  const { watchAfter = 100 } = settings;
  return {
    client: name,
    connection,
    clock,
    events,
    retryPolicy,
    wait,
    connectTimeout,
    parents: new LockParents(connection, name, acl),
    removals: new GuaranteedDelete(connection, clock, (error) =>
      process.emitWarning(
        `Lock client "${name}" may not remove a lock node, so the lock stays taken: ${error.message}. It tries again for as long as its session lives; closing the client ends that.`,
      ),
    ),
    soleChildren: new SoleChildMemory(connection),
    servedNodes: new ServedNodes(),
    longHolds: new LongHolds(clock, watchAfter),
    nodeData: Buffer.alloc(0),
    admits: 'all',
    waits: new Bag(),
    holds: new Bag(),
  };
}
