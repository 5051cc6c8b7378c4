import {
  type AskedLock,
  multiLock,
  mutex,
  type ObservedLock,
  readWriteLock,
  semaphore,
} from '../world/observed-locks.js';
import { plainPermits } from '../world/plain-permits.js';
import type { RedisProcess } from '../world/redis-process.js';
import type { RedisFault } from './redis-faults.js';
import type { RedisGuest } from './redis-guest.js';

/** How large a world is. */
export interface RedisSize {
  readonly clients: number;
  /** How many users there are, of the clients in turn. Default: one of each. */
  readonly requests?: number;
  /** How many faults a run may have. */
  readonly faults: number;
  /** Of which kinds. Default: all. */
  readonly kinds?: readonly RedisFault[];
}

/** A small world, in which every order of steps is explored. */
export interface RedisScenario {
  readonly locks: readonly AskedLock[];
  /** Whether the servers are a cluster, and all locks in one slot. Default: one server with a replica. */
  readonly isOfCluster?: boolean;
  /** Faults after which it may be lost, as is documented. */
  readonly except?: readonly RedisFault[];
  /** What is done before the users come. */
  prepare?(client: RedisProcess): Promise<unknown>;
  /** Users of one kind do the same. Default: each is of its own. */
  kindOf?(number: number): string;
  /** What the user with that number does. */
  life(number: number, guest: RedisGuest): Promise<void>;
}

const ofOneKind = () => 'user';

const ofAll = (lock: ObservedLock): RedisScenario => ({
  locks: [lock],
  kindOf: ofOneKind,
  life: (_, guest) => guest.visit(lock),
});

/** The first waits; the others come in that way. */
const ofOneAnd = (how: 'tries' | 'may give up', lock: ObservedLock): RedisScenario => ({
  locks: [lock],
  kindOf: (number) => (number === 0 ? 'first' : how),
  life: (number, guest) => guest.visit(lock, number === 0 ? {} : { how }),
});

/** Writers and readers take turns. */
const ofBoth = ([read, write]: [ObservedLock, ObservedLock]): RedisScenario => ({
  locks: [read, write],
  kindOf: (number) => (number % 2 === 0 ? 'writer' : 'reader'),
  life: (number, guest) => guest.visit(number % 2 === 0 ? write : read),
});

const extended = (...lengths: readonly number[]): RedisScenario => {
  const lock = mutex('a');
  const life: RedisScenario['life'] = (_, guest) =>
    guest.visit(lock, {
      inside: async ([hold]) => {
        for (const length of lengths) await guest.extend(hold!, length);
      },
    });
  return { locks: [lock], kindOf: ofOneKind, life };
};

/** How many wait where many do. */
const CROWD = 12;

/** The small worlds to explore. */
export const REDIS_SCENARIOS = {
  mutex: () => ofAll(mutex('a')),
  'plain mutex': () => ofAll(mutex('a', 'plain')),
  'fair mutex': () => ofAll(mutex('a', 'fair')),
  /** Many callers of the first client wait for a holder that has only a short lease. */
  'fair mutex behind a crowd': () => {
    const lock = mutex('a', 'fair');
    return {
      ...ofAll(lock),
      async prepare(client) {
        const crowded = client.locks.mutex('a', { fair: true, fenced: true });
        await crowded.acquire({ lease: 5_000 });
        for (let i = 0; i < CROWD; i++)
          crowded.acquire().then(
            (lease) => lease.release(),
            () => {},
          );
        await client.sleep(1_000);
      },
    };
  },
  'spin lock': () => ofAll(mutex('a', 'spin')),
  'mutex of the impatient': () => ofOneAnd('may give up', mutex('a')),
  'fair mutex of the impatient': () => ofOneAnd('may give up', mutex('a', 'fair')),
  'mutex of those who try': () => ofOneAnd('tries', mutex('a')),
  'mutex that is handed on': () => ofAll(mutex('a', 'handed on')),
  'mutex that is kept': () => ofAll(mutex('a', 'kept')),
  /** By each holder, to a longer lease. */
  'extended mutex': () => extended(60_000),
  /** The same, to a shorter one before. */
  'mutex that is extended twice': () => extended(4_000, 60_000),
  /** Each holder counts. */
  'mutex with guarded writes': () => {
    const lock = mutex('a');
    return {
      locks: [lock],
      kindOf: ofOneKind,
      life: (_, guest) => guest.visit(lock, { inside: ([hold]) => guest.write(hold!) }),
    };
  },
  /** By the first user, inside of it. */
  'mutex that is re-entered': () => {
    const lock = mutex('a');
    return {
      locks: [lock],
      kindOf: (number) => (number === 0 ? 'first' : 'other'),
      life: (number, guest) =>
        guest.visit(lock, {
          ...(number === 0 && { inside: (outer) => guest.visit(lock, { outer }) }),
        }),
    };
  },
  'mutex in a cluster': () => ({ ...ofAll(mutex('a')), isOfCluster: true }),
  'plain mutex in a cluster': () => ({ ...ofAll(mutex('a', 'plain')), isOfCluster: true }),
  /** The second one inside of the first. */
  'two mutexes of one slot': () => {
    const [outer, inner] = [mutex('{a}1', 'plain'), mutex('{a}2', 'plain')];
    return {
      locks: [outer, inner],
      isOfCluster: true,
      kindOf: ofOneKind,
      life: (_, guest) => guest.visit(outer, { inside: () => guest.visit(inner) }),
    };
  },
  'read/write lock': () => ofBoth(readWriteLock('a')),
  'read/write lock that prefers writers': () => ofBoth(readWriteLock('a', true)),
  semaphore: () => ofAll(semaphore('a', 1, false)),
  'fair semaphore': () => ofAll(semaphore('a', 1, true)),
  /** Of one permit. */
  'plain semaphore': () => ({
    ...ofAll(plainPermits('a', 1, 1)),
    except: ['kill'],
    prepare: ({ locks }) => locks.plainSemaphore('a').trySetPermits(1),
  }),
  /** Of two mutexes, of which the others want one each. */
  'multi-lock': () => {
    const parts = [mutex('a', 'plain'), mutex('b', 'plain')];
    const whole = multiLock(parts);
    return {
      locks: [whole],
      life: (number, guest) => guest.visit(number === 0 ? whole : parts[number % 2]!),
    };
  },
} satisfies Record<string, () => RedisScenario>;

export type RedisScenarioName = keyof typeof REDIS_SCENARIOS;
