import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { LinePlace, WaitingLines } from '../../lib/core/collections/waiting-line.js';
import { DeadlockExchange } from '../../lib/core/deadlocks/deadlock-exchange.js';
import type { DeadlockReport } from '../../lib/core/deadlocks/deadlock-report.js';
import { LeaderLatch } from '../../lib/core/election/leader-latch.js';
import { LeaderTerm } from '../../lib/core/election/leader-term.js';
import type { Clock } from '../../lib/core/clock.js';
import {
  LockConnectionError,
  LockLostError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import { Tenure } from '../../lib/core/hand-off.js';
import { runWithLease } from '../../lib/core/internal/lease-handle.js';
import { MultiHold, MultiLease } from '../../lib/core/internal/multi-lease.js';
import { WaitScope } from '../../lib/core/internal/wait-scope.js';
import { KeptLock } from '../../lib/core/kept-lock.js';
import type { Lease } from '../../lib/core/lease.js';
import type { AcquireOptions, Lock } from '../../lib/core/lock.js';
import { SharedHold } from '../../lib/core/shared-hold.js';
import { AtomicNode } from '../../lib/zookeeper/atomic/atomic-node.js';
import { SessionConnection } from '../../lib/zookeeper/connection/session-connection.js';
import { WatchRegistry } from '../../lib/zookeeper/connection/watch-registry.js';
import type { Watcher, WatchEvent } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import { ZooKeeperError } from '../../lib/zookeeper/connection/zookeeper-error.js';
import { writeGuarded } from '../../lib/zookeeper/locks/guarded-operations.js';
import { KnownQueue } from '../../lib/zookeeper/locks/known-queues.js';
import {
  readLockDriver,
  standardLockInternalsDriver,
  writeLockDriver,
} from '../../lib/zookeeper/locks/lock-drivers.js';
import type { PlanOf } from '../../lib/zookeeper/locks/lock-attempt.js';
import { LockHold } from '../../lib/zookeeper/locks/lock-hold.js';
import { LockInternals } from '../../lib/zookeeper/locks/lock-internals.js';
import { NextCaller } from '../../lib/zookeeper/locks/next-caller.js';
import { ZooKeeperElection } from '../../lib/zookeeper/locks/zookeeper-election.js';
import { ContainerParents } from '../../lib/zookeeper/nodes/container-parents.js';
import { GuaranteedDelete } from '../../lib/zookeeper/nodes/guaranteed-delete.js';
import { OwnedNode, ProtectedNode } from '../../lib/zookeeper/nodes/protected-node.js';
import { SharedListings } from '../../lib/zookeeper/nodes/shared-listings.js';
import type { RecipeContext } from '../../lib/zookeeper/recipe-context.js';
import { SemaphoreGate } from '../../lib/zookeeper/semaphores/inter-process-semaphore-v2.js';
import { SessionMirror } from '../../lib/zookeeper/session-worker/session-mirror.js';
import {
  StandbySession,
  type StandbySessionSettings,
} from '../../lib/zookeeper/session-worker/standby-session.js';
import { scheduleOfCounter } from './counters.js';
import { LatchUser, scheduleOfElection, SelectorUser } from './elections.js';
import { FollowerLink } from './ensemble.js';
import { scheduleOfLocks } from './guests.js';
import {
  countedSemaphore,
  multiLock,
  mutex,
  readWriteLock,
  semaphore,
  semaphoreMutex,
} from './locks.js';
import type { Schedule } from './run-schedule.js';
import { SCHEDULES as RANDOM_SCHEDULES } from './schedules.js';
import type { World } from './world.js';

const halves = (world: World) => {
  const { read, write } = readWriteLock(world, 'a');
  return [read, write];
};

/** Schedules of what has, or may have, a bug. */
const SCHEDULES = {
  mutex: scheduleOfLocks((world) => [mutex(world, 'a')]),
  'read/write lock': scheduleOfLocks((world) => halves(world)),
  semaphore: scheduleOfLocks((world) => [semaphore(world, 'a', 2)]),
  'semaphore mutex': scheduleOfLocks((world) => [semaphoreMutex(world, 'a')]),
  'semaphore of three permits': scheduleOfLocks((world) => [
    { ...semaphore(world, 'a', 2), of: ({ locks }) => locks.semaphore('a', { permits: 3 }) },
  ]),
  'semaphore with a shared count': scheduleOfLocks((world) => {
    const permits = { count: 3, onChange: () => () => {} }; // never tells of a change
    const real = countedSemaphore(world, 'a', permits.count);
    return [{ ...real, of: ({ locks }) => locks.semaphore('a', { permits }) }];
  }),
  latch: scheduleOfElection(LatchUser),
  selector: scheduleOfElection(SelectorUser),
  'guarded write under a mutex': scheduleOfLocks((world) => [mutex(world, 'a')], {
    doWrite: true,
  }),
  'guarded write under a read/write lock': scheduleOfLocks((world) => halves(world), {
    doWrite: true,
  }),
  'lock with several callers in a client': RANDOM_SCHEDULES.crowd,
  'mutex that is handed on': RANDOM_SCHEDULES['handed-on'],
  'read lock that is shared': RANDOM_SCHEDULES['shared-reads'],
  'lock inside of another': RANDOM_SCHEDULES.deadlock,
  'kept session': scheduleOfLocks((world) => [mutex(world, 'a')], { hasWorkers: true }),
  'distributed atomic long': scheduleOfCounter(64),
  'distributed atomic integer': scheduleOfCounter(32),
  'shared count': scheduleOfCounter(32),
} satisfies Record<string, Schedule>;

interface PlantedBug {
  readonly bug: string;
  readonly plant?: () => void;
  /** What the judge says of it. */
  readonly violation: RegExp;
  /** The first schedule of each kind that is known to catch it: the first thousand were tried. */
  readonly seeds: Readonly<Partial<Record<keyof typeof SCHEDULES, number>>>;
}

const WITHOUT_NODE = /says that it is held without its node/;
const WITHOUT_NODE_OR_SESSION = /says that it is held without its node|outlives its session/;
const NEVER_IN_TURN = /never had its turn/;

const BUGS: readonly PlantedBug[] = [
  {
    bug: 'does not watch what it holds for a long time',
    plant: () => jest.spyOn(LockHold.prototype, 'watch').mockReturnValue(),
    violation: WITHOUT_NODE,
    seeds: { mutex: 24, 'read/write lock': 5, semaphore: 3, 'semaphore mutex': 3 },
  },
  {
    bug: 'accepts the answer of a server that is cut off as proof that its session lives',
    plant: () =>
      // followers answer `sync` as they answer reads: so an answered read counts as a proof
      replace(FollowerLink.prototype, 'request', (request) => (sent, reply) => {
        if (sent.op !== 'sync') return request(sent, reply);
        request({ op: 'exists', path: '/', watch: false }, (rc) => reply(rc));
      }),
    violation: WITHOUT_NODE_OR_SESSION,
    seeds: {
      ...{ mutex: 22, 'read/write lock': 51, semaphore: 107, 'semaphore mutex': 429 },
      ...{ latch: 309, selector: 407 },
    },
  },
  {
    bug: 'ends the session that it keeps for another thread',
    plant: () =>
      replace(StandbySession.prototype, 'receive', (receive, standby) => {
        const { settings } = standby as unknown as { settings: StandbySessionSettings };
        const open = settings.transport.open.bind(settings.transport);
        settings.transport.open = (options, listener) => {
          const link = open(options, listener);
          return Object.assign(link, { detach: () => link.close() });
        };
        return receive;
      }),
    violation: WITHOUT_NODE_OR_SESSION,
    seeds: { 'kept session': 13 },
  },
  {
    bug: 'takes an answer to the thread that keeps its session for a proof that the leader knows it',
    plant: () =>
      replace(SessionMirror.prototype, 'open', (open, mirror) => (port, connection) => {
        const { clock } = mirror as unknown as { clock: Clock };
        const next = () => {
          const proof = port.next();
          return proof && { ...proof, sentAt: clock.now() };
        };
        open({ ...port, next }, connection);
      }),
    violation: WITHOUT_NODE_OR_SESSION,
    seeds: { 'kept session': 1747 },
  },
  {
    bug: 'forgets nodes with an unanswered create',
    plant: () =>
      replace(
        GuaranteedDelete.prototype,
        'remove',
        (remove) => (node) => (node.path === undefined ? Promise.resolve(false) : remove(node)),
      ),
    violation: /stands in the way|leaves its node behind/,
    seeds: {
      ...{ mutex: 1, 'read/write lock': 1, semaphore: 1, 'semaphore mutex': 1 },
      ...{ latch: 1, selector: 1 },
    },
  },
  {
    bug: 'is granted to a node of an older session',
    plant: () => {
      jest.spyOn(ProtectedNode.prototype, 'belongsTo').mockReturnValue(true);
      jest.spyOn(ProtectedNode.prototype, 'mayExist', 'get').mockImplementation(function (
        this: ProtectedNode,
      ) {
        return this.path !== undefined || this.isUncertain;
      });
    },
    violation: /granted to a node of another session/,
    seeds: { mutex: 11, 'read/write lock': 5, latch: 4, selector: 6 },
  },

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
    plant: () => void jest.replaceProperty(writeLockDriver, 'isClosed', true), // like a mutex
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
    seeds: { 'read/write lock': 2 },
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
        add(kind, path, watcher);
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
      jest.spyOn(SemaphoreGate.prototype, 'enter').mockResolvedValue({
        watch: Object.create(OwnedNode.prototype, {
          isExclusive: { value: true },
          keepWatching: { value: () => Promise.resolve() },
        }) as OwnedNode,
        close: () => {},
      }),
    violation: /the gate is not its own/,
    seeds: { semaphore: 1 },
  },

  {
    bug: 'continues while the connection is interrupted',
    plant: () => jest.spyOn(ZooKeeperElection.prototype, 'isHealthy', 'get').mockReturnValue(true),
    violation: /(leads although|begins to lead while) the connection is interrupted/,
    seeds: { latch: 3, selector: 3 },
  },
  {
    bug: 'does not ask the clock whether it leads',
    plant: () => jest.spyOn(LeaderTerm.prototype, 'isExclusive').mockReturnValue(true),
    violation: WITHOUT_NODE_OR_SESSION,
    seeds: { latch: 84, selector: 52 },
  },
  {
    bug: 'is not notified when another client deletes its node',
    plant: () => jest.spyOn(LockHold.prototype, 'nodeLost').mockReturnValue(),
    violation: WITHOUT_NODE,
    seeds: { latch: 5, selector: 4 },
  },
  {
    bug: 'does not ask the servers after a reconnect whether it is still elected',
    plant: () => jest.spyOn(LockHold.prototype, 'confirm').mockResolvedValue(),
    violation: /leads on a node that was gone before the connection was there/,
    seeds: { latch: 17 },
  },
  {
    bug: 'claims to lead until it learns otherwise',
    plant: () => {
      const leading = new WeakSet<LeaderLatch>();
      replace(LeaderLatch.prototype, 'onLeadership', (tell, latch) => (listener) => {
        latch.onLeadershipLost(() => leading.delete(latch));
        return tell((leadership) => {
          leading.add(latch);
          return listener(leadership);
        });
      });
      jest.spyOn(LeaderLatch.prototype, 'hasLeadership', 'get').mockImplementation(function (
        this: LeaderLatch,
      ) {
        return leading.has(this);
      });
    },
    violation: /says that it leads although/,
    seeds: { latch: 7 },
  },
  {
    bug: 'releases its place while work runs under its leadership',
    plant: () =>
      replace(LeaderLatch.prototype, 'enter', (enter) => () => {
        const lease = enter();
        void lease?.hold.release(); // so neither it counts, nor the work under it
        if (lease) lease.hold.use = lease.hold.endUse = () => {};
        return lease;
      }),
    violation: /without its node|too many/,
    seeds: { latch: 46 },
  },

  {
    bug: 'is changed again when an answer is lost',
    plant: () => takeLostFor(false),
    violation: /is made twice/,
    seeds: { 'distributed atomic long': 2, 'distributed atomic integer': 3 },
  },
  {
    bug: 'considers a change made when its answer is lost',
    plant: () => takeLostFor(true),
    violation: /says that it was made, and was not/,
    seeds: { 'distributed atomic long': 2, 'distributed atomic integer': 2 },
  },
  {
    bug: 'is set although it has changed since it was read',
    plant: () =>
      replace(
        SessionConnection.prototype,
        'setData',
        (setData) => (path, data) => setData(path, data),
      ),
    violation: /no client has made/,
    seeds: { 'distributed atomic long': 1, 'distributed atomic integer': 1 },
  },
  {
    bug: 'does not look again when it was cut off',
    plant: () => jest.spyOn(SessionConnection.prototype, 'exists').mockResolvedValue(undefined),
    violation: /takes it for/,
    seeds: { 'shared count': 1 },
  },
  {
    bug: 'uses what was read last, however old',
    plant: () => {
      let zxid = 0;
      replace(SessionConnection.prototype, 'getData', (getData) => async (...asked) => {
        const { data, stat } = await getData(...asked);
        return { data, stat: { ...stat, mzxid: (zxid += 1_000_000) } };
      });
    },
    violation: /which was never there/,
    seeds: { 'shared count': 1 },
  },
  {
    bug: 'is carried out without a look for the node of the lock',
    plant: () =>
      replace(SessionConnection.prototype, 'multi', (multi) => async (operations) => {
        const checks = operations.filter(({ op }) => op === 'check');
        const answers: readonly unknown[] = await multi(operations.slice(checks.length));
        return [...checks.map(() => undefined), ...answers] as never;
      }),
    violation: /writes behind hold/,
    seeds: { 'guarded write under a mutex': 31, 'guarded write under a read/write lock': 31 },
  },
  {
    bug: 'is sent again when its answer was lost',
    plant: () =>
      replace(
        SessionConnection.prototype,
        'multi',
        (multi) => (operations) =>
          multi(operations).catch((error) => {
            if (!(error instanceof ZooKeeperError) || !error.maybeDone) throw error;
            throw new ZooKeeperError(error.rc, error.operation, error.path);
          }),
      ),
    violation: /is carried out twice|is refused, and is there/,
    seeds: { 'guarded write under a mutex': 3, 'guarded write under a read/write lock': 4 },
  },
  {
    bug: 'says that nothing was written when it does not know',
    plant: () =>
      replace(
        LockHold.prototype,
        'guard',
        (guard, { hold }) =>
          (...asked) =>
            guard(...asked).catch((error) => {
              throw error instanceof LockConnectionError
                ? new LockLostError('?', hold.context)
                : error;
            }),
      ),
    violation: /is refused, and is there/,
    seeds: { 'guarded write under a mutex': 3, 'guarded write under a read/write lock': 3 },
  },
  {
    bug: 'goes on to the next caller although it is lost',
    plant: () => {
      jest.spyOn(LockHold.prototype, 'lost').mockReturnValue();
      replace(LockHold.prototype, 'free', (free) => (_, hold) => free(false, hold));
    },
    violation: /was handed on although hold \d+ is lost/,
    seeds: { 'mutex that is handed on': 215 },
  },
  {
    bug: 'counts each hand-off as a grant of the servers',
    plant: () =>
      replace(
        LinePlace.prototype,
        'handOff',
        (handOff) => (handed: object) => handOff({ ...handed, tenure: undefined }),
      ),
    violation: /was handed on out of bounds/,
    seeds: { 'mutex that is handed on': 12 },
  },
  {
    bug: 'goes on with its token to the next caller',
    plant: () =>
      replace(LockHold.prototype, 'fencingToken', (_, held) => async () => {
        const stat = await contextOf(held).connection.exists(held.paths[0]!);
        if (held.hold.lost) throw held.hold.lost;
        return BigInt(stat!.czxid);
      }),
    violation: /has the token of hold/,
    seeds: { 'mutex that is handed on': 1 },
  },
  {
    bug: 'goes on to the next caller while a guarded write is under way',
    plant: () =>
      replace(
        LockHold.prototype,
        'guard',
        (_, held) => (write, holds) =>
          writeGuarded(contextOf(held), write, holds as Parameters<typeof writeGuarded>[2]),
      ),
    violation: /writes behind hold/,
    seeds: { 'mutex that is handed on': 1 },
  },
  {
    bug: 'reports its loss to the first caller only',
    plant: () => {
      const guarded = new WeakSet<OwnedNode>();
      replace(OwnedNode.prototype, 'guard', (guard, watch) => (...asked) => {
        if (!guarded.has(watch)) guard(...asked);
        guarded.add(watch);
      });
    },
    violation: WITHOUT_NODE_OR_SESSION,
    seeds: { 'mutex that is handed on': 6 },
  },
  {
    bug: 'keeps the place of a caller who has given up',
    plant: () => keepPlaces(),
    violation: /does not get on/,
    seeds: { 'mutex that is handed on': 1 },
  },
  {
    bug: 'goes on to a caller who has given up',
    plant: () => {
      keepPlaces();
      jest.spyOn(WaitScope.prototype, 'isOver', 'get').mockReturnValue(false);
    },
    violation: /stands in the way/,
    seeds: { 'mutex that is handed on': 7 },
  },
  {
    bug: 'gives every caller a node of its own',
    plant: () =>
      replace(
        WaitingLines.prototype,
        'join',
        (join) => (name) => Object.assign(join(name), { isFirst: true }),
      ),
    violation: /queues although others of its client are ahead/,
    seeds: { 'mutex that is handed on': 1, 'read lock that is shared': 1 },
  },
  {
    bug: 'is kept however long others have waited',
    plant: () =>
      replace(SessionConnection.prototype, 'getChildren', (list) => (path) => list(path)), // without the watch
    violation: /stands in the way/,
    seeds: { 'mutex that is handed on': 11 },
  },
  {
    bug: 'is kept although the link is lost, and the watch for others with it',
    plant: () => hearOfChildren(({ type }) => type !== 'disconnected'),
    violation: /stands in the way/,
    seeds: { 'mutex that is handed on': 113 },
  },
  {
    bug: 'is kept again although others were seen to want it',
    plant: () =>
      replace(
        Tenure.prototype,
        'keepFor',
        (_, { since }) =>
          ({ keep = 0, for: ms }, now) =>
            Math.min(keep, since + ms - now),
      ),
    violation: /what others were seen to want/,
    seeds: { 'mutex that is handed on': 245 },
  },
  {
    bug: 'is kept, and given to the next caller, although its session has ended',
    plant: () => {
      hearOfChildren(({ type }) => type !== 'disconnected');
      replace(LockHold.prototype, 'nodeLost', (_, held) => (why) => {
        held.hold.markLost(why);
        if (held.hold.lost === undefined) held.isExclusive = () => true; // it is kept
      });
    },
    violation: /kept in another session/,
    seeds: { 'mutex that is handed on': 73 },
  },
  {
    bug: 'is both given back and handed on',
    plant: () =>
      replace(KeptLock.prototype, 'giveBack', (_, kept) => () => {
        const { hold } = kept as unknown as {
          hold: { place: LinePlace<object>; giveBack(): void };
        };
        hold.place.leave = () => {};
        hold.giveBack();
        hold.place.leave = LinePlace.prototype.leave;
      }),
    violation: WITHOUT_NODE,
    seeds: { 'mutex that is handed on': 1 },
  },
  {
    bug: 'is released with the first of its callers',
    plant: () => {
      replace(SharedHold.prototype, 'leave', (leave) => (hold) => !leave(hold) && false);
    },
    violation: WITHOUT_NODE,
    seeds: { 'read lock that is shared': 1 },
  },
  {
    bug: 'is not released when all of its callers have left',
    plant: () => {
      replace(SharedHold.prototype, 'leave', (leave) => (hold) => leave(hold) || true);
    },
    violation: /stands in the way/,
    seeds: { 'read lock that is shared': 1 },
  },
  {
    bug: 'is shared although it is lost',
    plant: () => {
      jest.spyOn(SharedHold.prototype, 'lose').mockReturnValue(false);
      replace(LockHold.prototype, 'mayGoOn', (mayGoOn, held) => () => {
        const { isExclusive } = held;
        held.isExclusive = () => true;
        const answer = mayGoOn();
        held.isExclusive = isExclusive;
        return answer;
      });
    },
    violation: /shares what (is lost|no caller has)/,
    seeds: { 'read lock that is shared': 2 },
  },
  {
    bug: 'is shared although its token was seen',
    plant: () => {
      replace(LockHold.prototype, 'mayGoOn', (_, held) => () => held.isExclusive());
    },
    violation: /shares the token that another caller has seen/,
    seeds: { 'read lock that is shared': 1 },
  },
  {
    bug: 'is shared by any number',
    plant: () => jest.spyOn(Tenure.prototype, 'mayGoOn').mockReturnValue(true),
    violation: /shares out of bounds/,
    seeds: { 'read lock that is shared': 3 },
  },
  {
    bug: 'is shared by those who come when its last caller has left',
    plant: () => {
      jest.spyOn(SharedHold.prototype, 'leave').mockReturnValue(false);
    },
    violation: /shares what no caller has|without its node/,
    seeds: { 'read lock that is shared': 1 },
  },
  {
    bug: 'is lost by one of its callers only',
    plant: () => {
      jest.spyOn(NextCaller.prototype, 'sharers', 'get').mockReturnValue(undefined);
    },
    violation: WITHOUT_NODE_OR_SESSION,
    seeds: { 'read lock that is shared': 1 },
  },
  {
    bug: 'does not warn when the servers are silent',
    plant: () => replace(SessionConnection.prototype, 'onDoubt', () => () => {}),
    violation: /lost without a warning/,
    seeds: { mutex: 3, 'kept session': 3 },
  },
  {
    bug: 'takes the waits of all others for older than its own',
    plant: () =>
      answersOf((reports) =>
        reports.map((report) => ({
          ...report,
          waits: report.waits.map((wait) => ({ ...wait, since: 0 })),
        })),
      ),
    violation: /fails with LOCK_DEADLOCK/,
    seeds: { 'lock inside of another': 34 },
  },
  {
    bug: 'goes by all that others have ever reported',
    plant: () => {
      const past = new Map<DeadlockExchange, DeadlockReport[]>();
      answersOf((reports, exchange) => {
        const all = [...reports, ...(past.get(exchange) ?? [])];
        past.set(exchange, all);
        return all;
      });
    },
    violation: /that never was/,
    seeds: { 'lock inside of another': 16 },
  },
  {
    bug: 'hears nothing of the waits of others',
    plant: () => answersOf(() => []),
    violation: /is not reported/,
    seeds: { 'lock inside of another': 1 },
  },
];

/** The faults of a {@link SketchedMultiLock}. Default: none. */
interface Faults {
  /** Releases nothing when it fails. */
  readonly isKeeping?: boolean;
  /** Acquires the parts in the order in which they are given. */
  readonly isUnordered?: boolean;
  /** Has a deadline for each part. */
  readonly isSlow?: boolean;
  /** Does not listen for the loss of a part. */
  readonly isNumb?: boolean;
  /** Does not ask for the first part when it has the last one. */
  readonly isHasty?: boolean;
}

/** A multi-lock of two parts, with faults: to check that they are found. */
class SketchedMultiLock implements Lock {
  readonly #parts: readonly Lock[];

  constructor(
    parts: readonly Lock[],
    private readonly clock: Clock,
    private readonly faults: Faults,
  ) {
    this.#parts = faults.isUnordered ? parts : parts.toReversed();
  }

  readonly key = 'a + b';

  readonly identity: Lock['identity'] = { scope: this, recipe: 'multiLock', name: this.key };

  async acquire(options: AcquireOptions = {}): Promise<Lease> {
    const lease = await this.#take(options, (part, rest) => part.acquire(rest));
    return lease!;
  }

  tryAcquire(options: AcquireOptions = {}): Promise<Lease | undefined> {
    return this.#take(options, (part, rest) => part.tryAcquire(rest));
  }

  using<T>(fn: (lease: Lease) => Promise<T> | T, options?: AcquireOptions): Promise<T> {
    return runWithLease(this.acquire(options), fn);
  }

  async #take(
    { wait, signal }: AcquireOptions,
    take: (part: Lock, rest: AcquireOptions) => Promise<Lease | undefined>,
  ): Promise<Lease | undefined> {
    const end = typeof wait === 'number' ? this.clock.now() + wait : Infinity;
    for (;;) {
      const leases: Lease[] = [];
      try {
        for (const part of this.#parts) {
          const rest = this.faults.isSlow ? wait : end - this.clock.now();
          if (typeof rest === 'number' && rest <= 0) throw new LockTimeoutError(rest, this);
          const lease = await take(part, { wait: rest === Infinity ? undefined : rest, signal });
          if (!lease) return void (await this.#giveBack(leases));
          leases.push(lease);
        }
      } catch (error) {
        void this.#giveBack(leases);
        throw error;
      }
      if (this.faults.isHasty || leases.every(({ isHeld }) => isHeld)) return this.#hold(leases);
      for (const lease of leases) void lease.release();
    }
  }

  async #giveBack(leases: readonly Lease[]): Promise<void> {
    if (!this.faults.isKeeping) await Promise.all(leases.map((lease) => lease.release()));
  }

  #hold(leases: readonly Lease[]): Lease {
    const multi = new MultiHold(this.identity, this.key, leases);
    if (this.faults.isNumb) multi.hold.markLost = () => {};
    return new MultiLease(multi.hold, leases);
  }
}

/** That the schedules find nothing counts only if they do find planted bugs. */
describe('The simulation catches', () => {
  afterEach(() => void jest.restoreAllMocks());

  const cases = BUGS.flatMap(({ seeds, ...planted }) =>
    Object.entries(seeds).map(([kind, seed]) => ({ ...planted, kind, seed })),
  );
  it.each(cases)('a $kind that $bug', async ({ kind, seed, plant, violation }) => {
    plant?.();
    const schedule = SCHEDULES[kind as keyof typeof SCHEDULES];
    expect(await firstAccusation(schedule, violation, seed)).toMatch(violation);
  });

  describe('a multi-lock', () => {
    const sketched = (faults: Faults) =>
      scheduleOfLocks((world) => {
        const parts = [mutex(world, 'a'), mutex(world, 'b')];
        const make: Parameters<typeof multiLock>[2] = (locks, clock) =>
          new SketchedMultiLock(locks, clock, faults);
        return [multiLock(world, parts, make), ...parts];
      });

    it.each<[string, Faults, RegExp, seed: number]>([
      ['keeps what it has when it fails', { isKeeping: true }, /keeps|but for a part/, 1],
      [
        'takes the parts in the order in which they were given',
        { isUnordered: true },
        /takes b/,
        1,
      ],
      ['gives every part the whole time', { isSlow: true }, /goes on after its end/, 1],
      ['is granted although a part was lost meanwhile', { isHasty: true }, /was lost before/, 2],
      [
        'does not see that a part is lost',
        { isNumb: true },
        /goes on although a part of it is lost/,
        5,
      ],
    ])('that %s', async (_, faults, violation, seed) => {
      expect(await firstAccusation(sketched(faults), violation, seed)).toMatch(violation);
    });

    it('only if it has a bug', async () => {
      expect(await firstAccusation(sketched({}), /./, 1, 30)).toBeUndefined();
    });
  });
});

jest.setTimeout(600_000); // where a change of the library makes a known seed miss its bug, the search for the next takes long

/**
 * Runs one schedule after the other until one is accused of that.
 *
 * @param from the first seed
 * @returns the accusation; `undefined` if there was none
 */
async function firstAccusation(
  schedule: Schedule,
  expected: RegExp,
  from: number,
  runs = 1_000,
): Promise<string | undefined> {
  for (let seed = from; seed < from + runs; seed++) {
    const accusation = await schedule(seed).then(
      () => undefined,
      (error: Error) => error.message.split('\n')[0],
    );
    if (accusation !== undefined && expected.test(accusation)) return accusation;
  }
  return undefined;
}

type Method = (...args: unknown[]) => unknown;

/** Replaces a method until the mocks are restored; `bug` receives the real one, bound to its object, and that object. */
function replace<T extends object, K extends keyof T>(
  owner: T,
  name: K,
  bug: (real: T[K], self: T) => T[K],
): void {
  const real = owner[name] as Method;
  const spy = jest.spyOn(owner as Record<string, Method>, name as string);
  spy.mockImplementation(function (this: unknown, ...args) {
    const self = this as T;
    return (bug(real.bind(self) as T[K], self) as Method)(...args);
  });
}

const contextOf = (hold: LockHold) => (hold as unknown as { context: RecipeContext }).context;

/** A caller who has not had its turn stays in the line for ever. */
function keepPlaces(): void {
  replace(LinePlace.prototype, 'leave', (leave, place) => () => {
    if (place.isFirst) leave();
  });
}

/** Makes a client hear only of some of what happens to the directories of its queues. */
function hearOfDirectories(isHeard: (event: WatchEvent) => boolean): void {
  replace(SessionConnection.prototype, 'exists', (exists) => (path, watcher) => {
    const partial: Watcher = (event) => void (isHeard(event) && watcher!(event));
    return exists(path, watcher && partial);
  });
}

/** The same, of the listings with a watch. */
function hearOfChildren(isHeard: (event: WatchEvent) => boolean): void {
  replace(SessionConnection.prototype, 'getChildren', (list) => (path, watcher) => {
    const partial: Watcher = (event) => void (isHeard(event) && watcher!(event));
    return list(path, watcher && partial);
  });
}

/** Makes a client receive, for the reports of the others, what `bug` returns for them. */
function answersOf(
  bug: (reports: readonly DeadlockReport[], exchange: DeadlockExchange) => DeadlockReport[],
): void {
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  replace(
    DeadlockExchange.prototype,
    'ask',
    (ask, exchange) => async (timeout) => bug(await ask(timeout), exchange),
  );
}

/** Makes a change with a lost answer return that, whatever became of it. */
function takeLostFor(outcome: boolean): void {
  replace(AtomicNode.prototype, 'replace', (change) => async (...asked) => {
    try {
      return await change(...asked);
    } catch (error) {
      if (error instanceof ZooKeeperError && error.maybeDone) return outcome;
      throw error;
    }
  });
}
