import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import { WatchRegistry } from '../../../lib/zookeeper/connection/watch-registry.js';
import type {
  Watcher,
  WatchEvent,
} from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { KnownQueue } from '../../../lib/zookeeper/locks/known-queues.js';
import {
  readLockDriver,
  standardLockInternalsDriver,
  writeLockDriver,
} from '../../../lib/zookeeper/locks/lock-drivers.js';
import type { PlanOf } from '../../../lib/zookeeper/locks/lock-attempt.js';
import { LockInternals } from '../../../lib/zookeeper/locks/lock-internals.js';
import { ContainerParents } from '../../../lib/zookeeper/nodes/container-parents.js';
import { OwnedNode } from '../../../lib/zookeeper/nodes/owned-node.js';
import { SharedListings } from '../../../lib/zookeeper/nodes/shared-listings.js';
import { SemaphoreGate } from '../../../lib/zookeeper/semaphores/inter-process-semaphore-v2.js';
import { mocks, type PlantedBug, replace } from './plant.js';

const NEVER_IN_TURN = /never had its turn/;

/** Makes a client hear only of some of what happens to the directories of its queues. */
function hearOfDirectories(isHeard: (event: WatchEvent) => boolean): void {
  replace(SessionConnection.prototype, 'exists', (exists) => (path, watcher) => {
    const partial: Watcher = (event) => void (isHeard(event) && watcher!(event));
    return exists(path, watcher && partial);
  });
}

/** Bugs of the queues of locks, and of the permits of semaphores. */
export const QUEUE_BUGS: readonly PlantedBug[] = [
  {
    bug: 'joins a listing that was sent before its node was created, and does not look for it there',
    plant: () => {
      const underWay = new Map<object, Map<string, Promise<string[]>>>();
      replace(SharedListings.prototype, 'getChildren', (list, listings) => (directory) => {
        const mine = underWay.get(listings) ?? new Map<string, Promise<string[]>>();
        underWay.set(listings, mine);
        const over = () => void mine.delete(directory);
        const listing = mine.get(directory) ?? list(directory).finally(over);
        mine.set(directory, listing);
        return listing;
      });
      replace(KnownQueue.prototype, 'listed', (adopt) => (children, own, watch) => {
        const isThere = children.includes(own.name);
        adopt(isThere ? children : [...children, own.name], own, watch);
      });
    },
    violation: NEVER_IN_TURN,
    seeds: { mutex: 32, 'lock with several callers in a client': 5 },
  },
  {
    bug: 'takes any number for the next one',
    plant: () =>
      replace(KnownQueue.prototype, 'entered', (enter, queue) => (own) => {
        if (!enter(own)) queue.listed([own.name], own, undefined);
        return true;
      }),
    violation: NEVER_IN_TURN,
    seeds: { mutex: 1, 'read/write lock': 1 },
  },
  {
    bug: 'takes all nodes ahead of one that is gone for gone, though it has only given up',
    plant: () =>
      replace(KnownQueue.prototype, 'gone', (gone, queue) => (name) => {
        queue.served(name, standardLockInternalsDriver);
        gone(name);
      }),
    violation: NEVER_IN_TURN,
    seeds: { mutex: 1 },
  },
  {
    bug: 'has a writer that does not look again when its predecessor leaves',
    plant: () => void mocks.replaceProperty(writeLockDriver, 'isClosed', true), // like a mutex
    violation: NEVER_IN_TURN,
    seeds: { 'read/write lock': 31 },
  },
  {
    bug: 'has readers that overtake waiting writers',
    plant: () =>
      replace(KnownQueue.prototype, 'turnOf', (turnOf) => (own, driver) => {
        const isBehindReader = turnOf(own, writeLockDriver)?.blocker?.includes('__READ__');
        return driver === readLockDriver && isBehindReader ? {} : turnOf(own, driver);
      }),
    violation: NEVER_IN_TURN,
    seeds: { 'read/write lock': 1 },
  },
  {
    bug: 'downgrades to a reader at the end of the queue, as Curator did before 5.5',
    plant: () => {
      const driver = { ...readLockDriver, turnOf: () => ({}) };
      replace(
        LockInternals.prototype,
        'acquire',
        (acquire) => (options, planOf) => acquire(options, planOf && (() => ({ driver }))),
      );
    },
    violation: /is not downgraded in its place/,
    seeds: { 'read/write lock': 3 },
  },
  {
    bug: 'downgrades although the node of its writer is gone',
    plant: () =>
      replace(LockInternals.prototype, 'acquire', (acquire) => (options, planOf) => {
        const eager: PlanOf = async (wait) => {
          const plan = await planOf!(wait);
          const isInside = plan.digits !== undefined;
          return isInside ? { ...plan, driver: { ...plan.driver, turnOf: () => ({}) } } : plan;
        };
        return acquire(options, planOf && eager);
      }),
    violation: /held by too many/,
    seeds: { 'read/write lock': 138 },
  },
  {
    bug: 'has a reader that does not see that its caller is the writer',
    plant: () =>
      replace(LockInternals.prototype, 'held', (held) => () => {
        const hold = held();
        return hold?.identity.recipe === 'writeLock' ? undefined : hold;
      }),
    violation: /./,
    seeds: { 'read/write lock': 1 },
  },
  {
    bug: 'forgets the writer beside which a reader inside of it is served',
    plant: () =>
      replace(
        KnownQueue.prototype,
        'served',
        (served) => (own, driver) => served(own, { ...driver, turnOf: undefined }),
      ),
    violation: NEVER_IN_TURN,
    seeds: { 'lock with several callers in a client': 127 },
  },
  {
    bug: 'takes the readers ahead of one that is served for gone',
    plant: () =>
      replace(
        KnownQueue.prototype,
        'served',
        (served) => (own) => served(own, standardLockInternalsDriver),
      ),
    violation: NEVER_IN_TURN,
    seeds: { 'read/write lock': 20 },
  },
  {
    bug: 'does not hear that the directory is removed of which it knows all nodes',
    plant: () => hearOfDirectories((event) => event.type !== 'deleted'),
    violation: NEVER_IN_TURN,
    seeds: { 'lock with several callers in a client': 4 },
  },
  {
    bug: 'still counts as complete what it knew before the connection was lost',
    plant: () => hearOfDirectories((event) => event.type !== 'disconnected'),
    violation: NEVER_IN_TURN,
    seeds: { 'lock with several callers in a client': 64 },
  },
  {
    bug: 'takes the watch on a node from all its callers when one of them leaves',
    plant: () => {
      const watchers = new Map<string, Set<Watcher>>();
      replace(WatchRegistry.prototype, 'add', (add) => (kind, path, watcher) => {
        watchers.set(path, (watchers.get(path) ?? new Set()).add(watcher));
        return add(kind, path, watcher);
      });
      replace(WatchRegistry.prototype, 'unwatch', (unwatch) => (path) => {
        for (const watcher of watchers.get(path) ?? []) unwatch(path, watcher);
      });
    },
    violation: /stands in the way/,
    seeds: { 'lock with several callers in a client': 1 },
  },
  {
    bug: 'considers a directory that it has made as there for ever',
    plant: () => {
      const made = new WeakMap<ContainerParents, Map<string, Promise<void>>>();
      replace(ContainerParents.prototype, 'make', (make, parents) => (directory) => {
        const mine = made.get(parents) ?? new Map<string, Promise<void>>();
        made.set(parents, mine);
        const making = mine.get(directory) ?? make(directory);
        mine.set(directory, making);
        return making;
      });
    },
    violation: /does not get on|asks again and again/,
    seeds: { 'lock with several callers in a client': 1 },
  },
  {
    bug: 'should have two',
    violation: NEVER_IN_TURN,
    seeds: { 'semaphore of three permits': 1 },
  },
  {
    bug: 'does not learn of a lower count',
    violation: NEVER_IN_TURN,
    seeds: { 'semaphore with a shared count': 5 },
  },
  {
    bug: 'has waiters that do not queue at the gate',
    plant: () =>
      mocks.spyOn(SemaphoreGate.prototype, 'enter').mockResolvedValue({
        watch: Object.create(OwnedNode.prototype, {
          isExclusive: { value: true },
          keepWatching: { value: () => Promise.resolve() },
        }) as OwnedNode,
        close: () => {},
      }),
    violation: /the gate is not its own/,
    seeds: { semaphore: 1 },
  },
];
